//! The `decision_id` of a choice: a sealed token that carries all that learning needs. A turn
//! earns its credit even when the choice is not in the log.

use crate::report::Seal;
use learn::{FEATURES_VERSION, Routers, dequantize_features, quantize_features};
use model::{DecisionId, RouterChoice, Scope};

const VERSION: u8 = 1;

/// A compact choice. Router and arm are hashes of their names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecisionToken {
    router: u64,
    arm: u64,
    propensity: f64,
    shadow: Option<(f64, f64)>,
    codes: Vec<i8>,
}

impl DecisionToken {
    pub(crate) fn from_choice(choice: &RouterChoice) -> Self {
        let features: Vec<f64> = choice.features.iter().map(|value| f64::from(*value)).collect();
        Self {
            router: hash_name(&choice.router),
            arm: hash_name(&choice.arm),
            propensity: choice.propensity,
            shadow: choice.shadow,
            codes: quantize_features(&features),
        }
    }

    /// `None` when the project no longer has the router or the arm.
    pub(crate) fn to_choice(&self, routers: &Routers) -> Option<RouterChoice> {
        let (name, router) = routers.iter().find(|(name, _)| hash_name(name) == self.router)?;
        let arm = router.rule.arms().iter().find(|arm| hash_name(&arm.id) == self.arm)?;
        Some(RouterChoice {
            router: name.to_owned(),
            arm: arm.id.clone(),
            propensity: self.propensity,
            features_version: FEATURES_VERSION.to_owned(),
            features: dequantize_features(&self.codes)
                .into_iter()
                .map(|value| value as f32)
                .collect(),
            shadow: self.shadow,
        })
    }

    /// Seals the token for a project.
    pub(crate) fn seal(&self, seal: &Seal, scope: &Scope) -> String {
        let mut bytes = vec![VERSION, u8::from(self.shadow.is_some())];
        bytes.extend(self.router.to_be_bytes());
        bytes.extend(self.arm.to_be_bytes());
        bytes.extend(self.propensity.to_be_bytes());
        if let Some((offset, slope)) = self.shadow {
            bytes.extend(offset.to_be_bytes());
            bytes.extend(slope.to_be_bytes());
        }
        bytes.extend(self.codes.iter().map(|code| code.cast_unsigned()));
        seal.close(&seal_purpose(scope), &bytes)
    }

    /// Opens a token of this project. `None` for any other decision id.
    pub(crate) fn open(seal: &Seal, scope: &Scope, id: &DecisionId) -> Option<Self> {
        let bytes = seal.open(&seal_purpose(scope), id.as_str())?;
        let ([version, has_shadow], mut rest) = bytes.split_first_chunk::<2>()?;
        if *version != VERSION {
            return None;
        }
        let mut eight = || -> Option<[u8; 8]> {
            let (first, behind) = rest.split_first_chunk::<8>()?;
            rest = behind;
            Some(*first)
        };
        let (router, arm) = (u64::from_be_bytes(eight()?), u64::from_be_bytes(eight()?));
        let propensity = f64::from_be_bytes(eight()?);
        let shadow = match has_shadow {
            0 => None,
            _ => Some((f64::from_be_bytes(eight()?), f64::from_be_bytes(eight()?))),
        };
        let codes = rest.iter().map(|byte| byte.cast_signed()).collect();
        Some(Self { router, arm, propensity, shadow, codes })
    }
}

fn seal_purpose(scope: &Scope) -> String {
    format!("choice {}/{}", scope.tenant, scope.project)
}

fn hash_name(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use model::Tenant;

    use super::*;

    #[test]
    fn token_opens_only_in_its_own_project_and_fits_into_an_id() {
        let seal = Seal::new(&[7; 32]);
        let token = DecisionToken {
            router: 1,
            arm: 2,
            propensity: 0.25,
            shadow: Some((-0.5, 1.5)),
            codes: (0..32).collect(),
        };
        let scope = Scope::default();
        let id = DecisionId::new(token.seal(&seal, &scope)).unwrap();
        assert_eq!(DecisionToken::open(&seal, &scope, &id), Some(token.clone()));
        let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
        assert_eq!(DecisionToken::open(&seal, &other, &id), None);
        assert_eq!(DecisionToken::open(&seal, &scope, &DecisionId::new("d1").unwrap()), None);
        let plain = DecisionToken { shadow: None, codes: Vec::new(), ..token };
        let id = DecisionId::new(plain.seal(&seal, &scope)).unwrap();
        assert_eq!(DecisionToken::open(&seal, &scope, &id), Some(plain));
    }

    #[test]
    fn opening_a_mangled_token_never_panics() {
        let (seal, scope) = (Seal::new(&[7; 32]), Scope::default());
        let token =
            DecisionToken { router: 1, arm: 2, propensity: 0.5, shadow: None, codes: vec![1, -1] };
        let sealed = token.seal(&seal, &scope);
        let mut opened = 0;
        testkit::fuzz_rows(&[&sealed, "d1", "0100"], 3000, |bytes| {
            // Any id that a client might send.
            if let Ok(id) = DecisionId::new(String::from_utf8_lossy(bytes).into_owned()) {
                let found = DecisionToken::open(&seal, &scope, &id);
                assert!(found.is_none() || id.as_str().eq_ignore_ascii_case(&sealed), "{id}");
                opened += usize::from(found.is_some());
            }
            // A valid seal over a payload of another version.
            let ours = seal.close(&seal_purpose(&scope), bytes);
            if let Ok(id) = DecisionId::new(ours) {
                drop(DecisionToken::open(&seal, &scope, &id));
            }
        });
        assert!(opened > 0);
    }
}
