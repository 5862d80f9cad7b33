//! What the system has: memory and disk. `None` where it does not say.

use std::path::Path;

/// Memory that can still be used without swapping: what Linux calls available, or what is left
/// under the limit of the control group, whichever is less.
pub fn memory_available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let available = meminfo.and_then(|text| kibibytes(&text, "MemAvailable:"));
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    // "max" is no number: then there is no limit.
    let group = number("memory.max").zip(number("memory.current"));
    let left = group.map(|(limit, used)| limit.saturating_sub(used));
    [available, left].into_iter().flatten().min()
}

/// The most memory that this process has had so far.
pub fn peak_memory() -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The amount after a key in a text such as `/proc/meminfo`.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let amount: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(amount << 10)
}

/// Bytes that can still be written where a file or directory is, or would be once its missing
/// parents are made.
pub fn disk_free(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let path = std::path::absolute(path).ok()?;
        let there = path.ancestors().find(|p| p.exists())?;
        let stat = rustix::fs::statvfs(there).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// An amount of memory or disk for messages: three digits and a binary unit.
pub fn bytes_text(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1024.0, 0);
    while amount >= 999.5 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let decimals = if amount < 9.995 { 2 } else { usize::from(amount < 99.95) };
    format!("{amount:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_texts_of_the_kernel() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   12345678 kB\nOdd: 3\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(12345678 << 10));
        assert_eq!(kibibytes(text, "MemFree:"), None);
        assert_eq!(kibibytes(text, "Odd:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_what_it_has() {
        assert!(memory_available().is_some());
        assert!(peak_memory().is_some_and(|peak| peak > 1 << 20));
        let folder = std::env::temp_dir();
        assert!(disk_free(&folder).is_some());
        assert!(disk_free(&folder.join("not/there/yet")).is_some());
    }

    #[test]
    fn texts_of_amounts() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.00 KiB"),
            (10 << 20, "10.0 MiB"),
            (999 << 20, "999 MiB"),
            (1000 << 20, "0.98 GiB"),
            (3 << 29, "1.50 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes_text(bytes), text);
        }
    }
}
