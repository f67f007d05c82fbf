//! Samples from standard distributions, seeded by the caller.
//!
//! Implemented here, because a seeded choice must give the same bits in every release, which
//! `rand_distr` and `statrs` do not promise.

use model::hash::SplitMix64;

#[derive(Clone, Debug)]
pub(crate) struct Sampler(SplitMix64);

impl Sampler {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform, above 0 and below 1.
    pub(crate) fn sample_uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    pub(crate) fn sample_normal(&mut self) -> f64 {
        normal_quantile(self.sample_uniform())
    }

    /// Gamma with scale 1 and shape above 0 (Marsaglia and Tsang).
    pub(crate) fn sample_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.sample_uniform().powf(1.0 / shape);
            return self.sample_gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.sample_normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = self.sample_uniform();
            let square = x * x;
            let inside = u < 1.0 - 0.0331 * square * square;
            if inside || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Beta, 0 to 1; both counts must be above 0.
    pub(crate) fn sample_beta(&mut self, good: f64, bad: f64) -> f64 {
        let (one, other) = (self.sample_gamma(good), self.sample_gamma(bad));
        let both = one + other;
        // Both underflow for tiny counts; the result is then 0 or 1.
        if both > 0.0 { one / both } else { f64::from(self.sample_uniform() < good / (good + bad)) }
    }

    /// Samples in proportion to the weights. Rounding remainders go to the last positive one.
    pub(crate) fn sample_index(
        &mut self,
        weights: impl Iterator<Item = f64> + Clone,
    ) -> Option<usize> {
        let mut left = self.sample_uniform() * weights.clone().sum::<f64>();
        let mut last = None;
        for (index, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
            if left < weight {
                return Some(index);
            }
            left -= weight;
            last = Some(index);
        }
        last
    }
}

/// Quantile function of the normal distribution (Wichura, AS 241).
fn normal_quantile(share: f64) -> f64 {
    let off = share - 0.5;
    if off.abs() <= 0.425 {
        let r = 0.180_625 - off * off;
        return off * evaluate_rational(&CENTRAL_COEFFICIENTS, r);
    }
    let tail = if off < 0.0 { share } else { 1.0 - share };
    let r = (-tail.ln()).sqrt();
    let far = if r <= 5.0 {
        evaluate_rational(&MIDDLE_COEFFICIENTS, r - 1.6)
    } else {
        evaluate_rational(&TAIL_COEFFICIENTS, r - 5.0)
    };
    if off < 0.0 { -far } else { far }
}

fn evaluate_rational([above, below]: &[[f64; 8]; 2], r: f64) -> f64 {
    // Evaluated in pairs, so that the processor can run them in parallel.
    let (two, four) = (r * r, r * r * r * r);
    let polynomial = |t: &[f64; 8]| {
        let low = (t[0] + t[1] * r) + (t[2] + t[3] * r) * two;
        let high = (t[4] + t[5] * r) + (t[6] + t[7] * r) * two;
        low + high * four
    };
    polynomial(above) / polynomial(below)
}

#[rustfmt::skip]
const CENTRAL_COEFFICIENTS: [[f64; 8]; 2] = [
    [3.387_132_872_796_366_5, 133.141_667_891_784_38, 1_971.590_950_306_551_3,
     13_731.693_765_509_46, 45_921.953_931_549_87, 67_265.770_927_008_7, 33_430.575_583_588_13,
     2_509.080_928_730_122_7],
    [1.0, 42.313_330_701_600_91, 687.187_007_492_057_9, 5_394.196_021_424_751,
     21_213.794_301_586_597, 39_307.895_800_092_71, 28_729.085_735_721_943,
     5_226.495_278_852_854],
];

#[rustfmt::skip]
const MIDDLE_COEFFICIENTS: [[f64; 8]; 2] = [
    [1.423_437_110_749_683_5, 4.630_337_846_156_546, 5.769_497_221_460_691,
     3.647_848_324_763_204_5, 1.270_458_252_452_368_4, 0.241_780_725_177_450_6,
     0.022_723_844_989_269_184, 7.745_450_142_783_414e-4],
    [1.0, 2.053_191_626_637_759, 1.676_384_830_183_803_8, 0.689_767_334_985_1,
     0.148_103_976_427_480_08, 0.015_198_666_563_616_457, 5.475_938_084_995_345e-4,
     1.050_750_071_644_416_9e-9],
];

#[rustfmt::skip]
const TAIL_COEFFICIENTS: [[f64; 8]; 2] = [
    [6.657_904_643_501_103, 5.463_784_911_164_114, 1.784_826_539_917_291_3,
     0.296_560_571_828_504_87, 0.026_532_189_526_576_124, 0.001_242_660_947_388_078_4,
     2.711_555_568_743_487_6e-5, 2.010_334_399_292_288_1e-7],
    [1.0, 0.599_832_206_555_888, 0.136_929_880_922_735_8, 0.014_875_361_290_850_615,
     7.868_691_311_456_133e-4, 1.846_318_317_510_054_7e-5, 1.421_511_758_316_446e-7,
     2.044_263_103_389_939_8e-15],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut draw: impl FnMut(&mut Sampler) -> f64, mean: f64, variance: f64) {
        let mut draws = Sampler::new(7);
        let drawn: Vec<f64> = (0..40_000).map(|_| draw(&mut draws)).collect();
        let found = drawn.iter().sum::<f64>() / 40_000.0;
        let spread = drawn.iter().map(|x| (x - found).powi(2)).sum::<f64>() / 40_000.0;
        assert!((found - mean).abs() < 5.0 * (variance / 40_000.0).sqrt(), "{found} for {mean}");
        assert!((spread / variance - 1.0).abs() < 0.06, "{spread} for {variance}");
    }

    #[test]
    fn samples_have_the_moments_of_their_distribution() {
        check(Sampler::sample_uniform, 0.5, 1.0 / 12.0);
        check(Sampler::sample_normal, 0.0, 1.0);
        check(|draws| draws.sample_gamma(0.4), 0.4, 0.4);
        check(|draws| draws.sample_gamma(7.5), 7.5, 7.5);
        check(|draws| draws.sample_beta(2.0, 6.0), 0.25, 12.0 / (64.0 * 9.0));
        check(|draws| draws.sample_beta(0.1, 0.1), 0.5, 0.01 / (0.04 * 1.2));
    }

    #[test]
    fn normal_quantiles_match_reference_values() {
        let rows = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_5),
            (1e-15, -7.941_345_326_170_997),
        ];
        for (share, expected) in rows {
            assert!((normal_quantile(share) - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn sampled_index_follows_the_weights() {
        let mut draws = Sampler::new(1);
        let picks: Vec<_> =
            (0..1_000).filter_map(|_| draws.sample_index([0.0, 3.0, 1.0].into_iter())).collect();
        let second = picks.iter().filter(|pick| **pick == 1).count();
        assert!(picks.len() == 1_000 && (690..810).contains(&second), "{second}");
        assert_eq!(draws.sample_index([0.0, 0.0].into_iter()), None);
    }
}
