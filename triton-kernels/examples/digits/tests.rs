//! The network against its definition in plain Rust, in `f64`, and learning in miniature.

use super::*;
use crate::data::{CLASSES, PIXELS, SIDE};

/// A network's weights and biases on the host.
struct Reference([Vec<f64>; 4]);

impl Reference {
    fn of(network: &Network, stream: &Stream) -> triton::Result<Reference> {
        let (hidden, output) = (&network.hidden, &network.output);
        let mut parameters = [const { Vec::new() }; 4];
        for (values, parameter) in parameters.iter_mut().zip([
            hidden.weights.values.buffer(),
            hidden.bias.values.buffer(),
            output.weights.values.buffer(),
            output.bias.values.buffer(),
        ]) {
            *values = stream.download(parameter)?.into_iter().map(f64::from).collect();
        }
        Ok(Reference(parameters))
    }

    /// All of them, one after the other.
    fn parameters(&mut self) -> impl Iterator<Item = &mut f64> {
        self.0.iter_mut().flatten()
    }

    /// One number for each class.
    fn logits(&self, image: &[f32]) -> Vec<f64> {
        let [hidden_weights, hidden_bias, output_weights, output_bias] = &self.0;
        let pixels: Vec<f64> = image.iter().map(|&ink| f64::from(ink)).collect();
        let hidden = linear(&pixels, hidden_weights, hidden_bias);
        let hidden: Vec<f64> = hidden.into_iter().map(|x| x.max(0.0)).collect();
        linear(&hidden, output_weights, output_bias)
    }

    /// The cross-entropy of each image.
    fn losses(&self, digits: &Digits) -> Vec<f64> {
        let loss = |(image, &label): (usize, &i32)| {
            let logits = self.logits(digits.image(image));
            logits.iter().map(|x| x.exp()).sum::<f64>().ln() - logits[label as usize]
        };
        digits.labels.iter().enumerate().map(loss).collect()
    }

    /// The mean of them, which learning makes smaller.
    fn loss(&self, digits: &Digits) -> f64 {
        self.losses(digits).iter().sum::<f64>() / digits.len() as f64
    }
}

/// x · weights + bias.
fn linear(x: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    let product = |j: usize| x.iter().enumerate().map(|(i, x)| x * weights[i * bias.len() + j]).sum::<f64>();
    bias.iter().enumerate().map(|(j, bias)| bias + product(j)).collect()
}

/// The first images; no tile divides their number.
fn few() -> Result<Digits, Failure> {
    const FEW: usize = 37;
    let (train, _) = Digits::load()?;
    Ok(Digits { pixels: train.pixels[..FEW * PIXELS].to_vec(), labels: train.labels[..FEW].to_vec() })
}

fn network(stream: &Stream) -> Result<Network, Failure> {
    Ok(Network::new(stream, &Communicator::alone(stream.device())?, &mut fastrand::Rng::with_seed(7))?)
}

#[test]
fn losses_and_guesses_are_those_of_the_definition() -> Result<(), Failure> {
    let (stream, digits) = (Device::cpu().stream()?, few()?);
    let network = network(&stream)?;
    let mut images = Images::upload(&stream, &digits)?;
    // In two batches.
    network.read(&mut images, 0..20, 1.0)?;
    network.read(&mut images, 20..digits.len(), 1.0)?;
    let reference = Reference::of(&network, &stream)?;
    for (found, expected) in stream.download(&images.loss)?.into_iter().zip(reference.losses(&digits)) {
        assert!((f64::from(found) - expected).abs() < 1e-5 * expected.max(1.0), "{found}, not {expected}");
    }
    for (image, guess) in stream.download(&images.guess)?.into_iter().enumerate() {
        let logits = reference.logits(digits.image(image));
        assert!(
            logits.iter().all(|&logit| logit <= logits[guess as usize] + 1e-5),
            "image {image}: {guess}, {logits:?}"
        );
    }
    Ok(())
}

/// A step at the rate 1 from rest takes the gradient off.
#[test]
fn gradients_are_the_slopes_of_the_loss() -> Result<(), Failure> {
    let (stream, digits) = (Device::cpu().stream()?, few()?);
    let mut network = network(&stream)?;
    let mut images = Images::upload(&stream, &digits)?;
    // Away from biases that are all 0.
    for _ in 0..3 {
        network.learn(&mut images, 0..digits.len(), sgd(0.1, 0.0))?;
    }
    let mut before = Reference::of(&network, &stream)?;
    network.learn(&mut images, 0..digits.len(), sgd(1.0, 0.0))?;
    let mut after = Reference::of(&network, &stream)?;
    let gradient: Vec<f64> = before.parameters().zip(after.parameters()).map(|(b, a)| *b - *a).collect();

    let mut moved = |parameter: usize, by: f64| {
        before.parameters().skip(parameter).take(1).for_each(|value| *value += by);
        let loss = before.loss(&digits);
        before.parameters().skip(parameter).take(1).for_each(|value| *value -= by);
        loss
    };
    let largest = gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    assert!(largest > 0.01, "nothing was learnt: {largest}");
    let all = gradient.len();
    // Some of all, and the last, which are the biases of the classes.
    for parameter in (0..all).step_by(83).chain(all - CLASSES..all) {
        const H: f64 = 1e-5;
        let slope = (moved(parameter, H) - moved(parameter, -H)) / (2.0 * H);
        let found = gradient[parameter];
        assert!((found - slope).abs() < 1e-5 * largest.max(1.0), "parameter {parameter}: {found}, not {slope}");
    }
    Ok(())
}

/// While the rate is 0 the gradient stays, and the velocity becomes a geometric sum of it.
#[test]
fn momentum_keeps_a_part_of_every_step() -> Result<(), Failure> {
    let (stream, digits) = (Device::cpu().stream()?, few()?);
    let moved_by = |steps: usize| -> Result<Vec<f64>, Failure> {
        let mut network = network(&stream)?;
        let mut images = Images::upload(&stream, &digits)?;
        let mut before = Reference::of(&network, &stream)?;
        for step in 1..=steps {
            let rate = if step == steps { 0.5 } else { 0.0 };
            network.learn(&mut images, 0..digits.len(), sgd(rate, 0.5))?;
        }
        let mut after = Reference::of(&network, &stream)?;
        Ok(before.parameters().zip(after.parameters()).map(|(b, a)| *b - *a).collect())
    };
    for (one, three) in moved_by(1)?.into_iter().zip(moved_by(3)?) {
        assert!((three - 1.75 * one).abs() < 1e-6, "{three}, not 1.75 times {one}");
    }
    Ok(())
}

/// The losses of a network that learns a few images, on each rank.
fn losses_of_ranks(device: &Device, ranks: usize, epochs: usize) -> Result<Vec<Vec<f64>>, Failure> {
    let digits = few()?;
    on_all(&devices_from(device, ranks)?, |communicator| {
        let (stream, mut random) = (communicator.device().stream()?, fastrand::Rng::with_seed(7));
        let mut network = Network::new(&stream, communicator, &mut random)?;
        learn(&mut network, &stream, &digits, &mut random, epochs, false)
    })
}

/// Those of one.
fn losses(device: &Device, epochs: usize) -> Result<Vec<f64>, Failure> {
    Ok(losses_of_ranks(device, 1, epochs)?.concat())
}

/// No part of a batch is as long as another.
#[test]
fn ranks_learn_what_one_does() -> Result<(), Failure> {
    let (one, three) = (losses(&Device::cpu(), 3)?, losses_of_ranks(&Device::cpu(), 3, 3)?);
    assert!(three[0] == three[1] && three[0] == three[2], "{three:?}");
    let near = one.iter().zip(&three[0]).all(|(a, b)| (a - b).abs() <= BOUND * a.abs());
    assert!(near && three[0].len() == 3, "{three:?}, but {one:?}");
    Ok(())
}

#[test]
fn learning_makes_the_loss_smaller_and_can_be_repeated() -> Result<(), Failure> {
    let found = losses(&Device::cpu(), 30)?;
    assert!(found[29] < found[0] / 4.0, "{found:?}");
    assert_eq!(found, losses(&Device::cpu(), 30)?);
    Ok(())
}

#[test]
fn the_simulator_learns_the_same() -> Result<(), Failure> {
    let (found, expected) = (losses(&Device::sim(), 2)?, losses(&Device::cpu(), 2)?);
    let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= BOUND * b.abs());
    assert!(near && found.len() == 2, "{found:?}, but {expected:?}");
    Ok(())
}

#[test]
fn losses_are_compared() -> Result<(), Failure> {
    let file = std::env::temp_dir().join(format!("digits-losses-{}", std::process::id()));
    std::fs::write(&file, "0.5\n0.25\n")?;
    let results = [vec![0.5, 0.25 * (1.0 + 1e-6)], vec![0.5, 0.25 * (1.0 + 1e-4)], vec![0.5, f64::NAN], vec![0.5]]
        .map(|losses| compare(&losses, &file).map_err(|error| error.to_string()));
    std::fs::remove_file(&file)?;
    assert_eq!(results[0], Ok(()));
    assert!(results[1..3].iter().all(|r| r.as_ref().is_err_and(|e| e.starts_with("epoch 2"))), "{results:?}");
    assert!(results[3].as_ref().is_err_and(|e| e.contains("has 2 epochs, this run 1")), "{results:?}");
    Ok(())
}

#[test]
fn images_are_redrawn_but_stay_what_they_are() -> Result<(), Failure> {
    let (train, test) = Digits::load()?;
    assert_eq!((train.len(), test.len(), train.pixels.len()), (1437, 360, 1437 * SIDE * SIDE));
    assert!(train.pixels.iter().all(|ink| (0.0..=1.0).contains(ink)));
    let redrawn = train.redrawn(&mut fastrand::Rng::with_seed(7));
    let count = |digits: &Digits, class| digits.labels.iter().filter(|&&label| label == class).count();
    assert!((0..CLASSES as i32).all(|class| count(&train, class) == count(&redrawn, class)));
    let mean = |digits: &Digits| digits.pixels.iter().sum::<f32>() / digits.pixels.len() as f32;
    assert!((mean(&train) - mean(&redrawn)).abs() < 0.03, "{} and {}", mean(&train), mean(&redrawn));
    Ok(())
}
