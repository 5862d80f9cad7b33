//! Memory, disk and instruction sets of the machine. Functions return `None` if the system does not report a value.

use std::path::Path;

/// Returns the number of bytes of memory that can be used without swapping: the minimum of `MemAvailable` and of the
/// memory that is left in the control groups.
pub fn memory_available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let available = meminfo.and_then(|text| kibibytes(&text, "MemAvailable:"));
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok();
    let left = groups.and_then(|groups| left_in_groups(Path::new("/sys/fs/cgroup"), &groups));
    [available, left].into_iter().flatten().min()
}

/// Names of the files that report the memory of a control group.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// Key in `memory.stat` of cached file contents, which the system drops when a program requests memory.
    reclaimable: &'static str,
}

const VERSION_1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

const VERSION_2: GroupFiles =
    GroupFiles { limit: "memory.max", used: "memory.current", reclaimable: "inactive_file " };

/// Returns the minimum of the memory left in a process's control groups, which `/proc/self/cgroup` lists, and
/// in their parents. `mounted` is the mount point of the control groups.
fn left_in_groups(mounted: &Path, groups: &str) -> Option<u64> {
    let left = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let (root, files) = match controllers {
            "" => (mounted.to_owned(), VERSION_2),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (mounted.join("memory"), VERSION_1)
            }
            _ => return None,
        };
        // In a container, the path may name parent groups that do not exist there. They are skipped.
        let group = root.join(group.trim_start_matches('/'));
        let groups = group.ancestors().take_while(|folder| folder.starts_with(&root));
        groups.filter_map(|folder| left_in_group(folder, &files)).min()
    };
    groups.lines().filter_map(left).min()
}

fn left_in_group(folder: &Path, files: &GroupFiles) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    // No number ("max") means no limit.
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let (limit, used) = (number(files.limit)?, number(files.used)?);
    let stat = text("memory.stat").unwrap_or_default();
    let reclaimable = stat.lines().find_map(|line| line.strip_prefix(files.reclaimable));
    let reclaimable = reclaimable.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(reclaimable)))
}

/// Returns the peak memory of this process in bytes.
pub fn peak_memory() -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the value of a key, in bytes, in a text such as `/proc/meminfo`.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// Returns the number of free bytes on the file system of a path. Neither the path nor its parents have to exist.
pub fn disk_free(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let path = std::path::absolute(path).ok()?;
        let existing = path.ancestors().find(|p| p.exists())?;
        let stat = rustix::fs::statvfs(existing).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Instruction sets for which inner loops are compiled. One binary runs on every processor and selects the
/// instruction set at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Instructions that every processor of the target has.
    Baseline,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// [`Isa::Avx2`] and AVX-512 F, BW, DQ, VL and VPOPCNTDQ.
    Avx512,
}

impl Isa {
    /// Returns the widest instruction set of this processor.
    pub fn detect() -> Isa {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq");
            if avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Baseline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_key_in_meminfo() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   12345678 kB\nOdd: 3\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(12345678 << 10));
        assert_eq!(kibibytes(text, "MemFree:"), None);
        assert_eq!(kibibytes(text, "Odd:"), None);
    }

    #[test]
    fn memory_left_in_control_groups() {
        let folder = tempfile::tempdir().unwrap();
        let left = |groups| left_in_groups(folder.path(), groups);
        let write = |group: &str, files: [(&str, &str); 3]| {
            let group = folder.path().join(group);
            std::fs::create_dir_all(&group).unwrap();
            for (name, text) in files {
                std::fs::write(group.join(name), text).unwrap();
            }
        };
        assert_eq!(left("0::/job/step\n"), None);
        let second = |limit, used| {
            let stat = ("memory.stat", "file 900\ninactive_file 300\nactive_file 1\n");
            [("memory.max", limit), ("memory.current", used), stat]
        };
        write("job/step", second("max\n", "500\n"));
        assert_eq!(left("0::/job/step\n"), None);
        write("job", second("1000\n", "900\n"));
        assert_eq!(left("0::/job/step\n"), Some(400));
        assert_eq!(left("0::/other\n"), None);
        write("job/step", second("450\n", "100\n"));
        assert_eq!(left("0::/job/step\n"), Some(400));
        write("job/step", second("350\n", "500\n"));
        assert_eq!(left("0::/job/step\n"), Some(150));
        write("job/step", second("350\n", "900\n"));
        assert_eq!(left("0::/job/step\n"), Some(0));

        let stat = ("memory.stat", "inactive_file 1\ntotal_inactive_file 20\n");
        let first = [("memory.limit_in_bytes", "100\n"), ("memory.usage_in_bytes", "90\n"), stat];
        write("memory", first);
        assert_eq!(left("4:memory:/docker/abc\n3:cpuset:/\n"), Some(30));
        assert_eq!(left("4:memory:/docker/abc\n0::/job\n"), Some(30));
        assert_eq!(left("3:cpuset:/\nnonsense\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_reports_memory_and_disk() {
        assert!(memory_available().is_some());
        assert!(peak_memory().is_some_and(|peak| peak > 1 << 20));
        let folder = std::env::temp_dir();
        assert!(disk_free(&folder).is_some());
        assert!(disk_free(&folder.join("not/there/yet")).is_some());
    }
}
