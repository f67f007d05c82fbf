//! The integer multiplication that the encoder spends its time in, for each kind of CPU. All give
//! the same result.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256i, __m512i};

#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

/// SIMD registers of 16-bit numbers, and their products as 32-bit sums.
pub(crate) trait Lanes: Copy {
    type Words: Copy;
    type Sums: Copy;
    /// Numbers per register.
    const WIDTH: usize;

    fn zero(self) -> Self::Sums;
    fn load_words(self, from: &[i16]) -> Self::Words;
    fn load_bytes(self, from: &[i8]) -> Self::Words;
    fn multiply_add(self, sums: Self::Sums, a: Self::Words, b: Self::Words) -> Self::Sums;
    fn total(self, sums: Self::Sums) -> i32;
}

// The registers of `std::arch` instead of pulp's structs, whose fields the compiler moves one by one.
#[cfg(target_arch = "x86_64")]
impl Lanes for V4 {
    type Words = __m512i;
    type Sums = __m512i;
    const WIDTH: usize = 32;

    #[inline(always)]
    fn zero(self) -> __m512i {
        self.avx512f._mm512_setzero_si512()
    }

    #[inline(always)]
    fn load_words(self, from: &[i16]) -> __m512i {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(from))
    }

    #[inline(always)]
    fn load_bytes(self, from: &[i8]) -> __m512i {
        self.avx512bw._mm512_cvtepi8_epi16(bytemuck::pod_read_unaligned(bytemuck::cast_slice(from)))
    }

    #[inline(always)]
    fn multiply_add(self, sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_add_epi32(sums, self.avx512bw._mm512_madd_epi16(a, b))
    }

    #[inline(always)]
    fn total(self, sums: __m512i) -> i32 {
        self.avx512f._mm512_reduce_add_epi32(sums)
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for V3 {
    type Words = __m256i;
    type Sums = __m256i;
    const WIDTH: usize = 16;

    #[inline(always)]
    fn zero(self) -> __m256i {
        self.avx._mm256_setzero_si256()
    }

    #[inline(always)]
    fn load_words(self, from: &[i16]) -> __m256i {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(from))
    }

    #[inline(always)]
    fn load_bytes(self, from: &[i8]) -> __m256i {
        self.avx2._mm256_cvtepi8_epi16(bytemuck::pod_read_unaligned(bytemuck::cast_slice(from)))
    }

    #[inline(always)]
    fn multiply_add(self, sums: __m256i, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_add_epi32(sums, self.avx2._mm256_madd_epi16(a, b))
    }

    #[inline(always)]
    fn total(self, sums: __m256i) -> i32 {
        bytemuck::cast::<_, [i32; 8]>(sums).iter().sum()
    }
}

/// Any CPU, without instructions of its own.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Lanes for Portable {
    type Words = [i16; 8];
    type Sums = [i32; 8];
    const WIDTH: usize = 8;

    #[inline(always)]
    fn zero(self) -> [i32; 8] {
        [0; 8]
    }

    #[inline(always)]
    fn load_words(self, from: &[i16]) -> [i16; 8] {
        std::array::from_fn(|at| from[at])
    }

    #[inline(always)]
    fn load_bytes(self, from: &[i8]) -> [i16; 8] {
        std::array::from_fn(|at| i16::from(from[at]))
    }

    #[inline(always)]
    fn multiply_add(self, sums: [i32; 8], a: [i16; 8], b: [i16; 8]) -> [i32; 8] {
        std::array::from_fn(|at| sums[at] + i32::from(a[at]) * i32::from(b[at]))
    }

    #[inline(always)]
    fn total(self, sums: [i32; 8]) -> i32 {
        sums.iter().sum()
    }
}

/// The widest instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Widest,
    /// Used by tests only.
    #[cfg_attr(
        not(all(test, feature = "model")),
        expect(dead_code, reason = "tests compare the instruction sets")
    )]
    Avx2,
    Portable,
}
