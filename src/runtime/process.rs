//! What the system says of this process: memory and CPU time, from /proc.

/// Ticks a second in /proc/self/stat: `USER_HZ`, 100 on every architecture that Linux has.
const TICKS: u64 = 100;

/// Resident memory in bytes; `None` where there is no /proc.
pub fn resident_bytes() -> Option<u64> {
    status_bytes(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// CPU time spent so far in user and kernel mode, in seconds; `None` where there is no /proc.
pub fn cpu_seconds() -> Option<f64> {
    stat_seconds(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

fn status_bytes(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

fn stat_seconds(stat: &str) -> Option<f64> {
    // The second field is the name in parentheses and may hold anything: start after the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "ticks of a process stay far below 2^53"
    )]
    let ticks = (user + system) as f64;
    Some(ticks / TICKS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_systems_form() {
        assert_eq!(
            status_bytes("Name:\tx\nVmRSS:\t    1024 kB\n"),
            Some(1 << 20)
        );
        assert_eq!(status_bytes("Name:\tx\n"), None);
        let stat = "7 (a) b) R 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 5 0 1";
        assert_eq!(stat_seconds(stat), Some(2.0));
        assert_eq!(stat_seconds("nothing"), None);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(resident_bytes().is_some_and(|bytes| bytes > 1 << 20));
        assert!(cpu_seconds().is_some());
    }
}
