//! The model of candle-transformers with our sizes.

use candle_transformers::models::llama as theirs;
use triton_candle_llama::Config;

/// Its configuration.
pub fn their_config(config: &Config) -> theirs::Config {
    theirs::Config {
        hidden_size: config.hidden,
        intermediate_size: config.intermediate,
        vocab_size: config.vocabulary,
        num_hidden_layers: config.layers,
        num_attention_heads: config.heads,
        num_key_value_heads: config.key_heads,
        use_flash_attn: false,
        rms_norm_eps: config.epsilon,
        rope_theta: config.theta,
        bos_token_id: None,
        eos_token_id: None,
        rope_scaling: None,
        max_position_embeddings: config.positions,
        tie_word_embeddings: false,
    }
}
