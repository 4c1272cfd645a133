//! How much of each service's runs could be judged: for the alert on a service that a detector is blind to.
//!
//! Invariant: bounded in services; those beyond count together as [`OTHERS`].

use std::collections::BTreeMap;

use crate::engine::ClosedRun;
use crate::model::{AnomalyType, Name, printable_within};

/// Services that count by their own name.
pub const SERVICES_MAX: usize = 100;
/// The name of all others.
pub const OTHERS: &str = "(others)";
/// Bytes of a service's name on a label.
const NAME_MAX: usize = 120;

/// Closed runs by service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    services: BTreeMap<Name, Runs>,
}

/// The closed runs of one service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// All.
    pub closed: u64,
    /// Those in which a type could not be judged at some step, at the place of the type's discriminant.
    pub lacking: [u64; AnomalyType::ALL.len()],
}

impl Coverage {
    /// Counts a run. Logarithmic in [`SERVICES_MAX`].
    pub fn note(&mut self, closed: &ClosedRun) {
        let mut name = Name::from(printable_within(&closed.service.name, NAME_MAX));
        if !self.services.contains_key(&name) && self.services.len() >= SERVICES_MAX {
            name = Name::from(OTHERS);
        }
        let runs = self.services.entry(name).or_default();
        runs.closed += 1;
        for (anomaly, _) in &closed.not_assessed {
            if let Some(cell) = runs.lacking.get_mut(usize::from(*anomaly as u8)) {
                *cell += 1;
            }
        }
    }

    /// All services with their runs, by name.
    pub fn services(&self) -> impl Iterator<Item = (&str, &Runs)> {
        self.services.iter().map(|(name, runs)| (&**name, runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::CloseReason;
    use crate::model::{Lack, Service, TraceId};

    fn run(service: &str, lacking: &[AnomalyType]) -> ClosedRun {
        let lacking = lacking.iter();
        ClosedRun {
            trace: TraceId::from_slice(&[1; 16]).unwrap(),
            session: Name::from("s"),
            service: Service {
                namespace: Name::from(""),
                name: Name::from(service),
            },
            steps: 1,
            findings: 0,
            not_assessed: lacking.map(|one| (*one, vec![Lack::NoResults])).collect(),
            reason: CloseReason::RootEnded,
        }
    }

    #[test]
    fn runs_and_what_they_lacked_count_by_service() {
        let mut coverage = Coverage::default();
        coverage.note(&run("a", &[AnomalyType::Stuck]));
        coverage.note(&run("a", &[]));
        coverage.note(&run("b", &[]));
        let told: Vec<_> = coverage
            .services()
            .map(|(name, runs)| (name, runs.closed, runs.lacking[AnomalyType::Stuck as usize]))
            .collect();
        assert_eq!(told, [("a", 2, 1), ("b", 1, 0)]);
    }

    #[test]
    fn services_beyond_the_bound_count_together() {
        let mut coverage = Coverage::default();
        for number in 0..SERVICES_MAX + 20 {
            coverage.note(&run(&format!("s{number}"), &[]));
        }
        assert_eq!(coverage.services().count(), SERVICES_MAX + 1);
        let others = coverage.services().find(|(name, _)| *name == OTHERS);
        assert_eq!(others.map(|(_, runs)| runs.closed), Some(20));
    }
}
