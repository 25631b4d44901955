//! The place of a process or thread among the ranks, and where a launcher says it.

use crate::error::{Error, Result};

/// Most ranks of a world: a number beyond that is a mistake.
const MAX_WORLD: usize = 1 << 16;

/// Which of the ranks this process or thread is.
///
/// ```
/// use triton_collective::Place;
///
/// let place = Place::new(1, 4);
/// assert_eq!((place.rank, place.world, place.local_rank), (1, 4, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Its number, from 0.
    pub rank: usize,
    /// The world size: the number of ranks.
    pub world: usize,
    /// Its number among the ranks of its host, from 0: the number of the CUDA device that it takes.
    pub local_rank: usize,
}

impl Place {
    /// A rank of a world on one host.
    pub fn new(rank: usize, world: usize) -> Place {
        Place { rank, world, local_rank: rank }
    }

    /// What the launcher says: `RANK`, `WORLD_SIZE` and `LOCAL_RANK`, as torchrun and this crate's example `launch` set them; else Slurm's
    /// `SLURM_PROCID`, `SLURM_NTASKS` and `SLURM_LOCALID`; else Open MPI's `OMPI_COMM_WORLD_RANK`, `_SIZE` and `_LOCAL_RANK`. The first of the three
    /// names that is set decides which launcher it was.
    ///
    /// # Errors
    /// [`Error::Environment`] names the variable that is missing or not a number; [`Error::World`] if the rank does not fit the world.
    pub fn from_environment() -> Result<Place> {
        Place::read(&|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// The same of any environment.
    pub(crate) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Place> {
        const LAUNCHERS: [[&str; 3]; 3] = [
            ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
            ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
            ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
        ];
        // Without any, the message names the first launcher's variable.
        let launcher = LAUNCHERS.iter().find(|[rank, ..]| variable(rank).is_some()).unwrap_or(&LAUNCHERS[0]);
        let [rank, world, local_rank] = launcher.map(|name| {
            let found = variable(name);
            found.as_ref().and_then(|text| text.trim().parse().ok()).ok_or(Error::Environment {
                variable: name.to_string(),
                found,
                expected: "a whole number, 0 or more",
            })
        });
        let place = Place { rank: rank?, world: world?, local_rank: local_rank? };
        place.check()?;
        Ok(place)
    }

    /// Refuses what no world has.
    pub(crate) fn check(self) -> Result<()> {
        let Place { rank, world, .. } = self;
        let reason = if world == 0 {
            "a world has at least 1 rank".to_string()
        } else if world > MAX_WORLD {
            format!("a world has at most {MAX_WORLD} ranks")
        } else if rank >= world {
            format!("ranks are numbered from 0 to {}", world - 1)
        } else {
            return Ok(());
        };
        Err(Error::World { rank, world, reason })
    }
}

/// The address of rank 0 by `MASTER_ADDR` and `MASTER_PORT`.
pub(crate) fn master(variable: &dyn Fn(&str) -> Option<String>) -> Result<String> {
    let wrong = |name: &str, found, expected| Error::Environment { variable: name.to_string(), found, expected };
    let host = variable("MASTER_ADDR").filter(|host| !host.trim().is_empty());
    let host =
        host.ok_or_else(|| wrong("MASTER_ADDR", variable("MASTER_ADDR"), "the host name or address of rank 0"))?;
    let port = variable("MASTER_PORT");
    let Some(number) = port.as_ref().and_then(|port| port.trim().parse::<u16>().ok()).filter(|port| *port != 0) else {
        return Err(wrong("MASTER_PORT", port, "a port of rank 0's host, from 1 to 65535"));
    };
    let host = host.trim();
    // An address of IPv6 is in brackets before a port.
    Ok(if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{number}")
    } else {
        format!("{host}:{number}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Place> {
        Place::read(&|name| lookup(variables, name))
    }

    fn lookup(variables: &[(&str, &str)], name: &str) -> Option<String> {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    }

    #[test]
    fn launchers_are_known() {
        let torchrun = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")];
        let slurm = [("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4"), ("SLURM_LOCALID", "0")];
        let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_LOCAL_RANK", " 1 ")];
        assert_eq!(read(&torchrun), Ok(Place { rank: 3, world: 8, local_rank: 1 }));
        assert_eq!(read(&slurm), Ok(Place { rank: 2, world: 4, local_rank: 0 }));
        assert_eq!(read(&mpi), Ok(Place { rank: 1, world: 2, local_rank: 1 }));
        assert_eq!(read(&[&slurm[..], &torchrun].concat()), read(&torchrun), "the first launcher decides");
    }

    #[test]
    fn a_missing_or_malformed_variable_is_named() {
        let named = |variables: &[(&str, &str)]| match read(variables) {
            Err(Error::Environment { variable, found, .. }) => (variable, found),
            other => panic!("{other:?}"),
        };
        assert_eq!(named(&[]), ("RANK".into(), None));
        assert_eq!(named(&[("RANK", "0")]), ("WORLD_SIZE".into(), None));
        assert_eq!(named(&[("RANK", "0"), ("WORLD_SIZE", "2")]), ("LOCAL_RANK".into(), None));
        assert_eq!(named(&[("RANK", "-1"), ("WORLD_SIZE", "2")]), ("RANK".into(), Some("-1".into())));
        assert_eq!(named(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2(x3)")]).0, "SLURM_NTASKS");
        assert_eq!(named(&[("OMPI_COMM_WORLD_RANK", "0")]).0, "OMPI_COMM_WORLD_SIZE");
        let error = read(&[("RANK", "x")]).unwrap_err().to_string();
        assert_eq!(
            error,
            "RANK is `x`: expected a whole number, 0 or more; torchrun, srun or mpirun sets it for each rank"
        );
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.starts_with("RANK is not set: expected"), "{error}");
        let place = |rank, world| read(&[("RANK", rank), ("WORLD_SIZE", world), ("LOCAL_RANK", "0")]);
        for (rank, world) in [("2", "2"), ("0", "0"), ("0", "1000000000000")] {
            assert!(matches!(place(rank, world), Err(Error::World { .. })), "{rank} {world}");
        }
    }

    #[test]
    fn the_address_of_rank_0_is_read() {
        let of = |variables: &[(&str, &str)]| master(&|name| lookup(variables, name));
        assert_eq!(of(&[("MASTER_ADDR", "node1"), ("MASTER_PORT", "29500")]), Ok("node1:29500".into()));
        assert_eq!(of(&[("MASTER_ADDR", "::1"), ("MASTER_PORT", "29500")]), Ok("[::1]:29500".into()));
        let named = |variables: &[(&str, &str)]| match of(variables) {
            Err(Error::Environment { variable, .. }) => variable,
            other => panic!("{other:?}"),
        };
        assert_eq!(named(&[("MASTER_PORT", "1")]), "MASTER_ADDR");
        assert_eq!(named(&[("MASTER_ADDR", "")]), "MASTER_ADDR");
        assert_eq!(named(&[("MASTER_ADDR", "a")]), "MASTER_PORT");
        for port in ["0", "65536", "x"] {
            assert_eq!(named(&[("MASTER_ADDR", "a"), ("MASTER_PORT", port)]), "MASTER_PORT");
        }
    }
}
