//! Trains a `WideDeepModel` with Adam: hashed weights and a narrow network together. Bit-for-bit
//! reproducible.

use detect::{Features, Platt, WideDeepModel, sigmoid};

/// A training example. Rows of one group never appear on both sides of a split.
#[derive(Clone, Debug)]
pub struct Example {
    pub features: Features,
    pub target: f32,
    pub weight: f32,
    pub group: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Hyperparameters {
    /// Buckets for hashed features, a power of two; 0 for none.
    pub wide: usize,
    pub hidden: usize,
    pub epochs: usize,
    pub learning_rate: f32,
    /// Weight decay of the hashed weights and of the others.
    pub wide_decay: f32,
    pub deep_decay: f32,
    pub dropout: f32,
    /// Networks that are trained separately and averaged into one wide hidden layer.
    pub networks: usize,
}

const BATCH_ROWS: usize = 32;

/// Trains a model on all examples and calibrates it on out-of-fold predictions. Returns both.
pub fn fit_calibrated(examples: &[Example], params: Hyperparameters) -> (WideDeepModel, Vec<f32>) {
    let held_out = predict_out_of_fold(examples, params);
    let platt = fit_platt(examples, &held_out);
    let mut model = train_model(examples, params);
    model.slope = platt.slope as f32;
    model.offset = platt.offset as f32;
    (model, held_out)
}

pub fn fit_platt(examples: &[Example], sums: &[f32]) -> Platt {
    let rows = sums.iter().zip(examples);
    let points: Vec<(f64, f64, f64)> =
        rows.map(|(sum, e)| (f64::from(*sum), f64::from(e.target), f64::from(e.weight))).collect();
    Platt::fit(&points)
}

/// For each example, the sum of a model that has not seen its group.
pub fn predict_out_of_fold(examples: &[Example], params: Hyperparameters) -> Vec<f32> {
    const FOLDS: u64 = 5;
    let mut sums = vec![0.0; examples.len()];
    for fold in 0..FOLDS {
        let is_out = |e: &Example| splitmix64_finalize(e.group) % FOLDS == fold;
        let inside: Vec<Example> = examples.iter().filter(|e| !is_out(e)).cloned().collect();
        let model = train_model(&inside, Hyperparameters { networks: 1, ..params });
        for (sum, example) in sums.iter_mut().zip(examples).filter(|(_, e)| is_out(e)) {
            *sum = model.raw_sum(&example.features);
        }
    }
    sums
}

pub fn train_model(examples: &[Example], params: Hyperparameters) -> WideDeepModel {
    let networks: Vec<WideDeepModel> = (0..params.networks.max(1))
        .map(|n| train_network(examples, params, 1 + n as u64))
        .collect();
    average_models(&networks)
}

/// Averages models by concatenating their hidden units.
fn average_models(networks: &[WideDeepModel]) -> WideDeepModel {
    let share = 1.0 / networks.len() as f32;
    let mean = |of: fn(&WideDeepModel) -> &[f32]| -> Vec<f32> {
        let mut total = vec![0.0; of(&networks[0]).len()];
        for network in networks {
            total.iter_mut().zip(of(network)).for_each(|(t, v)| *t += v * share);
        }
        total
    };
    WideDeepModel {
        wide: mean(|m| &m.wide),
        inputs: networks[0].inputs,
        hidden: networks.iter().flat_map(|m| m.hidden.clone()).collect(),
        hidden_bias: networks.iter().flat_map(|m| m.hidden_bias.clone()).collect(),
        output: networks.iter().flat_map(|m| m.output.iter().map(|o| o * share)).collect(),
        direct: mean(|m| &m.direct),
        bias: networks.iter().map(|m| m.bias * share).sum(),
        slope: 1.0,
        offset: 0.0,
    }
}

/// Parameters with the two moment estimates of Adam.
struct AdamParameters {
    value: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl AdamParameters {
    fn new(value: Vec<f32>) -> Self {
        Self { first: vec![0.0; value.len()], second: vec![0.0; value.len()], value }
    }

    fn adam_step(&mut self, at: usize, gradient: f32, rate: f32, decay: f32) {
        self.first[at] = 0.9 * self.first[at] + 0.1 * gradient;
        self.second[at] = 0.999 * self.second[at] + 0.001 * gradient * gradient;
        let move_by = self.first[at] / (self.second[at].sqrt() + 1e-6);
        self.value[at] -= rate * (move_by + decay * self.value[at]);
    }
}

struct Network {
    inputs: usize,
    wide: AdamParameters,
    hidden: AdamParameters,
    hidden_bias: AdamParameters,
    output: AdamParameters,
    direct: AdamParameters,
    bias: AdamParameters,
}

fn train_network(examples: &[Example], params: Hyperparameters, seed: u64) -> WideDeepModel {
    let inputs = examples[0].features.dense.len();
    let mut rng = SplitMix64(seed);
    let spread = (2.0 / inputs.max(1) as f32).sqrt();
    let mut network = Network {
        inputs,
        wide: AdamParameters::new(vec![0.0; params.wide]),
        hidden: AdamParameters::new(
            (0..inputs * params.hidden).map(|_| rng.next_centred() * spread).collect(),
        ),
        hidden_bias: AdamParameters::new(vec![0.0; params.hidden]),
        output: AdamParameters::new((0..params.hidden).map(|_| rng.next_centred() * 0.5).collect()),
        direct: AdamParameters::new(vec![0.0; inputs]),
        bias: AdamParameters::new(vec![0.0]),
    };
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let steps = params.epochs * examples.len().div_ceil(BATCH_ROWS);
    let mut step = 0;
    for _ in 0..params.epochs {
        rng.shuffle(&mut order);
        for batch in order.chunks(BATCH_ROWS) {
            let left = 1.0 - step as f32 / steps as f32;
            network.train_batch(examples, batch, params, params.learning_rate * left, &mut rng);
            step += 1;
        }
    }
    network.into_model()
}

impl Network {
    fn train_batch(
        &mut self,
        examples: &[Example],
        batch: &[usize],
        params: Hyperparameters,
        rate: f32,
        rng: &mut SplitMix64,
    ) {
        let units = params.hidden;
        let mut hidden = vec![0.0f32; self.hidden.value.len()];
        let mut hidden_bias = vec![0.0f32; units];
        let mut output = vec![0.0f32; units];
        let mut direct = vec![0.0f32; self.inputs];
        let mut bias = 0.0;
        let mut wide: Vec<(usize, f32)> = Vec::new();
        let keep = 1.0 - params.dropout;
        for &at in batch {
            let example = &examples[at];
            let dense: Vec<f32> =
                example
                    .features
                    .dense
                    .iter()
                    .map(|v| {
                        if params.dropout > 0.0 && rng.next_unit() > keep { 0.0 } else { v / keep }
                    })
                    .collect();
            let mut activations = vec![0.0f32; units];
            let mut sum = self.bias.value[0];
            for (unit, activation) in activations.iter_mut().enumerate() {
                let row = &self.hidden.value[unit * self.inputs..(unit + 1) * self.inputs];
                let before: f32 = row.iter().zip(&dense).map(|(w, v)| w * v).sum::<f32>()
                    + self.hidden_bias.value[unit];
                *activation = before.max(0.0);
                sum += self.output.value[unit] * *activation;
            }
            sum += self.direct.value.iter().zip(&dense).map(|(w, v)| w * v).sum::<f32>();
            let count = (example.features.sparse.len().max(1) as f32).sqrt();
            let mask = self.wide.value.len().wrapping_sub(1);
            if !self.wide.value.is_empty() {
                sum += example
                    .features
                    .sparse
                    .iter()
                    .map(|f| self.wide.value[f.hash as usize & mask])
                    .sum::<f32>()
                    / count;
            }
            let error = (sigmoid(sum) - example.target) * example.weight / batch.len() as f32;
            bias += error;
            direct.iter_mut().zip(&dense).for_each(|(g, v)| *g += error * v);
            for unit in 0..units {
                output[unit] += error * activations[unit];
                if activations[unit] > 0.0 {
                    let back = error * self.output.value[unit];
                    hidden_bias[unit] += back;
                    let row = &mut hidden[unit * self.inputs..(unit + 1) * self.inputs];
                    row.iter_mut().zip(&dense).for_each(|(g, v)| *g += back * v);
                }
            }
            if !self.wide.value.is_empty() {
                wide.extend(
                    example.features.sparse.iter().map(|f| (f.hash as usize & mask, error / count)),
                );
            }
        }
        self.apply_gradients(&hidden, &hidden_bias, &output, &direct, bias, wide, params, rate);
    }

    #[expect(clippy::too_many_arguments, reason = "one gradient per parameter group")]
    fn apply_gradients(
        &mut self,
        hidden: &[f32],
        hidden_bias: &[f32],
        output: &[f32],
        direct: &[f32],
        bias: f32,
        mut wide: Vec<(usize, f32)>,
        params: Hyperparameters,
        rate: f32,
    ) {
        let decay = params.deep_decay;
        hidden.iter().enumerate().for_each(|(at, g)| self.hidden.adam_step(at, *g, rate, decay));
        hidden_bias
            .iter()
            .enumerate()
            .for_each(|(at, g)| self.hidden_bias.adam_step(at, *g, rate, 0.0));
        output.iter().enumerate().for_each(|(at, g)| self.output.adam_step(at, *g, rate, decay));
        direct.iter().enumerate().for_each(|(at, g)| self.direct.adam_step(at, *g, rate, decay));
        self.bias.adam_step(0, bias, rate, 0.0);
        wide.sort_by_key(|(at, _)| *at);
        for group in wide.chunk_by(|a, b| a.0 == b.0) {
            let gradient = group.iter().map(|(_, g)| g).sum();
            self.wide.adam_step(group[0].0, gradient, rate * 4.0, params.wide_decay);
        }
    }

    fn into_model(self) -> WideDeepModel {
        WideDeepModel {
            wide: self.wide.value,
            inputs: self.inputs,
            hidden: self.hidden.value,
            hidden_bias: self.hidden_bias.value,
            output: self.output.value,
            direct: self.direct.value,
            bias: self.bias.value[0],
            slope: 1.0,
            offset: 0.0,
        }
    }
}

/// SplitMix64. Implemented here so that training never changes with a library.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix64_finalize(self.0)
    }

    fn next_unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// A number below `count`, which must not be 0.
    pub fn next_below(&mut self, count: usize) -> usize {
        (self.next_u64() % count as u64) as usize
    }

    fn next_centred(&mut self) -> f32 {
        self.next_unit() + self.next_unit() + self.next_unit() - 1.5
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        for at in (1..order.len()).rev() {
            order.swap(at, (self.next_u64() % (at as u64 + 1)) as usize);
        }
    }
}

pub fn splitmix64_finalize(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
