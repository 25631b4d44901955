//! Recurrent layers: the cells of LSTM and GRU, whole sequences of them, and their gradients through time.
//!
//! Weights, biases and the order of gates are those of PyTorch: i, f, g, o of an LSTM, and r, z, n of a GRU. Gates and the cell of an LSTM are in `f32`, whatever
//! the type of the operands is. The state is read and overwritten: where a stream of inputs arrives in parts, it stays on the device between them. Of several
//! layers the output of one is the input of the next, and a direction from the end is a layer over a sequence that is reversed.

mod gru;
mod gru_cell;
mod lstm;
mod lstm_cell;
mod products;

pub use gru::{Gru, GruBackward, gru, gru_backward};
pub use gru_cell::{GruCell, GruCellBackward, gru_cell, gru_cell_backward};
pub use lstm::{Lstm, LstmBackward, lstm, lstm_backward};
pub use lstm_cell::{LstmCell, LstmCellBackward, lstm_cell, lstm_cell_backward};
