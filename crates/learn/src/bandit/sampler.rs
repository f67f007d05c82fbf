//! Draws from the usual distributions, out of one number that the caller brings.
//!
//! Written here because `learn` must not depend on a source of randomness; the same number always
//! gives the same draws.

/// A stream of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Above 0 and below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Mean 0, deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        quantile(self.uniform())
    }

    /// Shape above 0, scale 1 (Marsaglia and Tsang).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = self.uniform();
            let square = x * x;
            let inside = u < 1.0 - 0.0331 * square * square;
            if inside || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// From 0 to 1; the counts of good and bad must be above 0.
    pub(crate) fn beta(&mut self, good: f64, bad: f64) -> f64 {
        let (one, other) = (self.gamma(good), self.gamma(bad));
        let both = one + other;
        // Both can vanish when the counts are tiny; then it is one end or the other.
        if both > 0.0 { one / both } else { f64::from(self.uniform() < good / (good + bad)) }
    }

    /// An index, by weights that need not add up to one. The last one with any weight when
    /// rounding leaves something over.
    pub(crate) fn pick(&mut self, weights: &[f64]) -> Option<usize> {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        let mut last = None;
        for (index, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            if left < *weight {
                return Some(index);
            }
            left -= weight;
            last = Some(index);
        }
        last
    }
}

/// The point below which a share of the normal distribution lies (Wichura, AS 241).
fn quantile(share: f64) -> f64 {
    let off = share - 0.5;
    if off.abs() <= 0.425 {
        let r = 0.180_625 - off * off;
        return off * ratio(&CENTRE, r);
    }
    let tail = if off < 0.0 { share } else { 1.0 - share };
    let r = (-tail.ln()).sqrt();
    let far = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&FAR, r - 5.0) };
    if off < 0.0 { -far } else { far }
}

fn ratio([above, below]: &[[f64; 8]; 2], r: f64) -> f64 {
    // In pairs rather than one after the other, because the processor can do pairs at once.
    let (two, four) = (r * r, r * r * r * r);
    let polynomial = |t: &[f64; 8]| {
        let low = (t[0] + t[1] * r) + (t[2] + t[3] * r) * two;
        let high = (t[4] + t[5] * r) + (t[6] + t[7] * r) * two;
        low + high * four
    };
    polynomial(above) / polynomial(below)
}

const CENTRE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];

const MIDDLE: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

const FAR: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut draw: impl FnMut(&mut Draws) -> f64, mean: f64, variance: f64) {
        let mut draws = Draws::new(7);
        let drawn: Vec<f64> = (0..40_000).map(|_| draw(&mut draws)).collect();
        let found = drawn.iter().sum::<f64>() / 40_000.0;
        let spread = drawn.iter().map(|x| (x - found).powi(2)).sum::<f64>() / 40_000.0;
        assert!((found - mean).abs() < 5.0 * (variance / 40_000.0).sqrt(), "{found} for {mean}");
        assert!((spread / variance - 1.0).abs() < 0.06, "{spread} for {variance}");
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution() {
        check(Draws::uniform, 0.5, 1.0 / 12.0);
        check(Draws::normal, 0.0, 1.0);
        check(|draws| draws.gamma(0.4), 0.4, 0.4);
        check(|draws| draws.gamma(7.5), 7.5, 7.5);
        check(|draws| draws.beta(2.0, 6.0), 0.25, 12.0 / (64.0 * 9.0));
        check(|draws| draws.beta(0.1, 0.1), 0.5, 0.01 / (0.04 * 1.2));
    }

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        let rows = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_5),
            (1e-15, -7.941_345_326_170_997),
        ];
        for (share, expected) in rows {
            assert!((quantile(share) - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn a_pick_follows_the_weights() {
        let mut draws = Draws::new(1);
        let picks: Vec<_> = (0..1_000).filter_map(|_| draws.pick(&[0.0, 3.0, 1.0])).collect();
        let second = picks.iter().filter(|pick| **pick == 1).count();
        assert!(picks.len() == 1_000 && (690..810).contains(&second), "{second}");
        assert_eq!(draws.pick(&[0.0, 0.0]), None);
    }
}
