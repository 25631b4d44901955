//! An embedding and a cross entropy whose vocabulary is split among ranks.

use crate::element::FloatElement;
use crate::embedding::embedding;
use crate::error::{Result, extent};
use crate::ids::Ids;
use crate::loss::{cross_entropy_of_parts, cross_entropy_part};
use triton::{IntoView, IntoViewMut, Stream, View, ViewMut};
use triton_collective::{Communicator, Reduce};

/// Builder of an embedding over ranks, returned by [`vocabulary_embedding`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct VocabularyEmbedding<'a, T> {
    communicator: &'a Communicator,
    entries: usize,
    table: View<'a, T, 2>,
    ids: Ids<'a>,
    out: ViewMut<'a, T, 2>,
}

/// out\[i\] = table\[ids\[i\]\] of a table of `entries` rows, of which each rank has its [`shard`](Communicator::shard). All ranks have the same ids, and get
/// out \[ids, c\], which is contiguous. An id that is not an entry gives a row of zeros.
///
/// Each rank looks its own rows up; the others are 0, so that the sum over the ranks is exact.
///
/// ```
/// use triton::prelude::*;
/// use triton_collective::on_all;
/// use triton_kernels::parallel::vocabulary_embedding;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let rows = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> triton_kernels::Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     // Three entries: rank 0 has two of them.
///     let table: &[f32] = if communicator.rank() == 0 { &[1.0, 2.0, 3.0, 4.0] } else { &[5.0, 6.0] };
///     let table = stream.tensor(table, [table.len() / 2, 2])?;
///     let (ids, mut out) = (stream.tensor(&[2, 0], [2])?, stream.tensor_uninit([2, 2])?);
///     vocabulary_embedding(communicator, 3, &table, &ids, &mut out).launch(&stream)?;
///     Ok(stream.download(&out)?)
/// })?;
/// assert_eq!(rows, [[5.0, 6.0, 1.0, 2.0], [5.0, 6.0, 1.0, 2.0]]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: [`embedding_backward`](crate::embedding::embedding_backward) with `first`, which passes nothing.
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device or of the communicator.
pub fn vocabulary_embedding<'a, T: FloatElement>(
    communicator: &'a Communicator,
    entries: usize,
    table: impl IntoView<'a, T, 2>,
    ids: impl Into<Ids<'a>>,
    out: impl IntoViewMut<'a, T, 2>,
) -> VocabularyEmbedding<'a, T> {
    let (table, out) = (table.into_view(), out.into_view_mut());
    VocabularyEmbedding { communicator, entries, table, ids: ids.into(), out }
}

impl<T: FloatElement> VocabularyEmbedding<'_, T> {
    /// Enqueues the lookup and the sum.
    ///
    /// # Errors
    /// See [`vocabulary_embedding`].
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let VocabularyEmbedding { communicator, entries, table, ids, mut out } = self;
        let shard = communicator.shard(entries);
        let fix = "each rank has the entries of its shard";
        extent("vocabulary_embedding", "table", 0, [table.shape()[0], shard.len()], fix)?;
        embedding(table, ids, out.reborrow()).first(shard.start).launch(stream)?;
        Ok(communicator.all_reduce(stream, out, Reduce::Sum)?)
    }
}

/// Builder of a cross entropy over ranks, returned by [`vocabulary_cross_entropy`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct VocabularyCrossEntropy<'a, T> {
    communicator: &'a Communicator,
    classes: usize,
    logits: ViewMut<'a, T, 2>,
    labels: Ids<'a>,
    loss: ViewMut<'a, f32, 1>,
    gradient_in_place: bool,
    gradient_scale: f32,
    ignore: Option<i32>,
}

/// loss\[i\] = log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\] over `classes` classes, of which each rank has the columns of its [`shard`](Communicator::shard) in
/// logits \[rows, c\]. All ranks have the same labels, and get the same loss, to the bit.
///
/// Three numbers of a row are passed, not its logits: the greatest, the sum of exponentials, the label's. With
/// [`gradient_in_place`](VocabularyCrossEntropy::gradient_in_place) each rank's logits become their gradient. Values at the edge are those of
/// [`cross_entropy`](crate::loss::cross_entropy()).
///
/// ```
/// use triton::prelude::*;
/// use triton_collective::on_all;
/// use triton_kernels::parallel::vocabulary_cross_entropy;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let results = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> triton_kernels::Result<(Vec<f32>, Vec<f32>)> {
///     let stream = communicator.device().stream()?;
///     // Classes 0 and 1 on rank 0, class 2 on rank 1.
///     let logits: &[f32] = if communicator.rank() == 0 { &[0.0, 0.0] } else { &[2f32.ln()] };
///     let mut logits = stream.tensor(logits, [1, logits.len()])?;
///     let (labels, mut loss) = (stream.tensor(&[2], [1])?, stream.tensor_uninit([1])?);
///     vocabulary_cross_entropy(communicator, 3, &mut logits, &labels, &mut loss).gradient_in_place().launch(&stream)?;
///     Ok((stream.download(&loss)?, stream.download(&logits)?))
/// })?;
/// let near = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
/// assert!(near(&results[0].0, &[2f32.ln()]) && results[0].0 == results[1].0);
/// assert!(near(&results[0].1, &[0.25, 0.25]) && near(&results[1].1, &[-0.5]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device or of the communicator.
pub fn vocabulary_cross_entropy<'a, T: FloatElement>(
    communicator: &'a Communicator,
    classes: usize,
    logits: impl IntoViewMut<'a, T, 2>,
    labels: impl Into<Ids<'a>>,
    loss: impl IntoViewMut<'a, f32, 1>,
) -> VocabularyCrossEntropy<'a, T> {
    let (logits, labels, loss) = (logits.into_view_mut(), labels.into(), loss.into_view_mut());
    VocabularyCrossEntropy {
        communicator,
        classes,
        logits,
        labels,
        loss,
        gradient_in_place: false,
        gradient_scale: 1.0,
        ignore: None,
    }
}

impl<T: FloatElement> VocabularyCrossEntropy<'_, T> {
    /// Overwrites the logits with the gradient of the sum of losses.
    pub fn gradient_in_place(self) -> Self {
        VocabularyCrossEntropy { gradient_in_place: true, ..self }
    }

    /// Multiplies the gradient.
    pub fn gradient_scale(self, gradient_scale: f32) -> Self {
        VocabularyCrossEntropy { gradient_scale, ..self }
    }

    /// Rows with this label have loss and gradient 0.
    pub fn ignore(self, label: i32) -> Self {
        VocabularyCrossEntropy { ignore: Some(label), ..self }
    }

    /// Enqueues the parts of the rows, their exchange, and the loss.
    ///
    /// # Errors
    /// See [`vocabulary_cross_entropy`].
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let VocabularyCrossEntropy { communicator, classes, logits, labels, loss, .. } = self;
        let (shard, [rows, columns], ranks) = (communicator.shard(classes), logits.shape(), communicator.world());
        let (op, fix) = ("vocabulary_cross_entropy", "each rank has the classes of its shard");
        extent(op, "logits", 1, [columns, shard.len()], fix)?;
        extent(op, "labels", 0, [labels.count(), rows], "there is a label for each row")?;
        extent(op, "loss", 0, [loss.shape()[0], rows], "there is a loss for each row")?;
        let (mut own, mut all) = (stream.workspace::<f32>(3 * rows)?, stream.workspace::<f32>(3 * rows * ranks)?);
        cross_entropy_part(logits.as_view(), labels.clone(), own.view_mut([rows, 3])?)
            .first(shard.start)
            .launch(stream)?;
        communicator.all_gather(stream, own.view([rows, 3])?, all.view_mut([ranks, rows, 3])?)?;
        let loss = cross_entropy_of_parts(all.view([ranks, rows, 3])?, labels, logits, loss).first(shard.start);
        let loss = loss.gradient_scale(self.gradient_scale);
        let loss = if self.gradient_in_place { loss.gradient_in_place() } else { loss };
        if let Some(label) = self.ignore { loss.ignore(label) } else { loss }.launch(stream)
    }
}
