//! The kind of an error ([`ErrorKind`]), which every error type of the library has.

pub use pn_search::ErrorKind;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::ErrorKind;
    use crate::analysis::AnalysisError;
    use crate::checkpoint::CheckpointError;
    use crate::file::FileError;
    use crate::konane::SolveError;
    use crate::proof::ProofError;
    use crate::search::certificate::CertificateError;
    use crate::search::run::Reason;
    use crate::search::table::TableError;
    use crate::tablebase::{BuildError, DatabaseError};

    fn not_replaceable() -> FileError {
        FileError::NotReplaceable { path: PathBuf::from("a"), found: "a directory" }
    }

    fn busy() -> FileError {
        FileError::Busy { path: PathBuf::from("a") }
    }

    #[test]
    fn an_error_has_the_kind_of_the_error_that_it_wraps() {
        let database = |file: FileError| DatabaseError::from(file);
        for (make, kind) in
            [(not_replaceable as fn() -> FileError, ErrorKind::Usage), (busy, ErrorKind::File)]
        {
            assert_eq!(make().kind(), kind);
            assert_eq!(database(make()).kind(), kind);
            assert_eq!(AnalysisError::from(database(make())).kind(), kind);
            assert_eq!(SolveError::from(CheckpointError::from(make())).kind(), kind);
            // Never a usage error: a build chooses the names of its files itself.
            assert_eq!(BuildError::from(make()).kind(), ErrorKind::File);
        }
        assert_eq!(AnalysisError::from(ProofError::Interrupted).kind(), ErrorKind::Interrupted);
    }

    /// A memory limit that is too small has to be raised. After a failed allocation, the limit has to be lowered.
    #[test]
    fn a_memory_limit_and_a_failed_allocation_have_different_kinds() {
        let source = std::io::ErrorKind::OutOfMemory.into();
        let table = TableError::Memory { bytes: 1 << 40, source };
        assert_eq!(SolveError::from(table).kind(), ErrorKind::Resource);
        let small = SolveError::from(TableError::TooSmall { bytes: 1 });
        assert_eq!(small.kind(), ErrorKind::Usage);
        assert_eq!(BuildError::TaskMemory { need: 2, have: 1 }.kind(), ErrorKind::Limit);
    }

    #[test]
    fn the_reason_of_a_stopped_search_determines_the_kind_of_error() {
        let kinds = Reason::ALL.map(|reason| CertificateError::Stopped(reason).kind());
        let limit = ErrorKind::Limit;
        let file = ErrorKind::File;
        assert_eq!(kinds, [limit, limit, limit, ErrorKind::Interrupted, file, file]);
    }
}
