//! From data to choices, on times of a roofline: features, networks, first choices, pools.

use crate::support::roofline::recorded;
use triton_select::model::Model;
use triton_tune::prune::{Losses, prune};
use triton_tune::regret::regret;
use triton_tune::space::tensor::judge;
use triton_tune::train::{Cpu, Fitted, Options, Scale, Split, Table, TargetKind, split};

fn options(hidden: &[usize], epochs: usize) -> Options {
    Options { hidden: hidden.to_vec(), epochs, batch: 512, rates: [4e-3, 2e-5], ..Options::default() }
}

#[test]
fn logarithms_predict_better_than_raw_numbers() {
    let data = recorded(1000, 20, 400, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    for by in [Split::Sample, Split::Context] {
        let [train, test] = split(&table, by, 4000, 1);
        let [log, raw] = [Scale::Log, Scale::Raw].map(|scale| {
            let (kind, options) = ((scale, TargetKind::Time), options(&[64, 128, 64], 40));
            let fitted = Fitted::train(&table, &train, kind, &Cpu, &options, &mut |_, _| {});
            fitted.expect("the data is finite").error(&table, &test)
        });
        println!("{by:?}: log {log:.4}, raw {raw:.4}, {:.1}", raw / log);
        assert!(log <= 0.03 && raw / log >= 5.0, "{by:?}: log {log}, raw {raw}");
    }
}

#[test]
fn first_choices_are_near_the_best() {
    let data = recorded(1500, 40, 400, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    let all: Vec<usize> = (0..table.len()).collect();
    let kind = (Scale::Log, TargetKind::Time);
    let fitted = Fitted::train(&table, &all, kind, &Cpu, &options(&[64, 128, 64], 60), &mut |_, _| {});
    let model = fitted.and_then(|fitted| fitted.model()).expect("the data is finite");
    let bytes = model.to_bytes();
    assert!(bytes.len() <= 100_000, "{} bytes", bytes.len());
    let model = Model::parse(&bytes).expect("it was written");

    // Contexts that it has not seen, each candidate of a smaller pool measured.
    let complete = recorded(40, usize::MAX, 60, 0.0, 2);
    let found = regret(&model, &complete, 10, 20).expect("the data has the model's columns");
    println!("{} contexts, first {:?}, top {:?}", found.choices.len(), found.first, found.top);
    assert!(found.choices.len() >= 30 && found.first.mean <= 1.10 && found.top.mean <= 1.03, "{found:?}");
}

#[test]
fn pruned_pools_lose_little() {
    let data = recorded(60, usize::MAX, 120, 0.02, 3);
    let recorded = Losses::recorded(&data, &["splits", "raster"]).expect("there are rows");
    let pool = prune(&recorded, 12);
    let losses = &pool.losses;
    println!("{losses:?}");
    assert_eq!(pool.members.len(), 12);
    assert!(losses.windows(2).all(|pair| pair[1].mean <= pair[0].mean), "{losses:?}");
    assert!(losses[11].mean <= 1.03 && losses[11].worst <= 1.15, "{losses:?}");
    let configs = pool.configs();
    assert!(configs.starts_with("configs = [\n    (BM = ") && configs.contains(", num_warps = "), "{configs}");
    assert_eq!(configs.lines().count(), 14);
    let again = Losses::recorded(&data, &["splits", "raster"]).expect("as before");
    assert_eq!(prune(&again, 12), pool);
    let error = Losses::recorded(&data, &["split"]).expect_err("another name").to_string();
    assert!(error.starts_with("unknown parameter `split`, expected one of: BM, BN"), "{error}");
    assert_eq!(prune(&recorded, 1000).members.len(), recorded.instances.len());
}

/// A few samples of each context and a network find a pool that is good by complete measurements.
#[test]
fn pools_are_pruned_by_a_model() {
    let data = recorded(800, 30, 120, 0.02, 4);
    let table = Table::new(&data, false).expect("there are rows");
    let all: Vec<usize> = (0..table.len()).collect();
    let kind = (Scale::Log, TargetKind::Time);
    let fitted = Fitted::train(&table, &all, kind, &Cpu, &options(&[32, 64, 32], 40), &mut |_, _| {});
    let model = fitted.and_then(|fitted| fitted.model()).expect("the data is finite");
    let launch = ["splits", "raster"];
    let judge = judge(&data.schema).expect("a product");
    let predicted = Losses::predicted(&data, &launch, &model, &judge, |_, _| {});
    let predicted = predicted.expect("the data has the model's columns");
    let pool = prune(&predicted, 12);
    // The same members where all was measured.
    let complete = Losses::recorded(&recorded(60, usize::MAX, 120, 0.0, 3), &launch).expect("there are rows");
    let loss = complete.loss(&pool.members);
    println!("{:?}, measured {loss:?}", pool.losses[11]);
    assert!(loss.mean <= 1.10 && loss.unmeasured == 0, "{loss:?}");
}
