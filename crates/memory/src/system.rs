//! The limits of the system on this process, and how much memory it uses. Known on Linux only.
#![allow(unsafe_code)]

use std::fs::read_to_string;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use crate::allocator::LARGE_BYTES;

/// Environment variable by which the library of decision diagrams learns the stack size of its threads.
const POOL_STACK_VARIABLE: &str = "OXIDD_STACK_SIZE";
/// Stack size that is enough for diagrams with 100 000 levels, in bytes.
const USUAL_POOL_STACK_BYTES: u64 = 64 << 20;
/// The least stack size of these threads, in bytes.
const LEAST_POOL_STACK_BYTES: u64 = 1 << 20;
/// Divisor of the memory that the system allows this process, for one of these stacks.
const POOL_STACK_SHARE: u64 = 64;

/// Returns the number of bytes that the process may allocate in addition to what it uses now, if the system
/// limits them: by its address space (`ulimit -v`) or by a control group.
pub fn room() -> Option<u64> {
    let address_space = || Some(address_space_limit()?.saturating_sub(usage()?.mapped));
    let group = || Some(group_limit()?.saturating_sub(usage()?.resident));
    address_space().into_iter().chain(group()).min()
}

/// Returns the physical memory that the process uses, in bytes.
pub fn resident_bytes() -> Option<u64> {
    usage().map(|usage| usage.resident)
}

/// Returns the most physical memory that the process has used so far, in bytes.
pub fn peak_resident_bytes() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Bytes of address space and of physical memory in use.
struct Usage {
    mapped: u64,
    resident: u64,
}

fn usage() -> Option<Usage> {
    let text = read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    let mut bytes = || pages.next()?.checked_mul(page_bytes());
    Some(Usage { mapped: bytes()?, resident: bytes()? })
}

#[cfg(unix)]
fn page_bytes() -> u64 {
    // SAFETY: `sysconf` has no preconditions.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(not(unix))]
fn page_bytes() -> u64 {
    4096
}

/// Limit on the address space in bytes.
fn address_space_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return limit_of(libc::RLIMIT_AS);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns whether the stack of the main thread is too small for the program (`ulimit -s`).
pub fn is_main_stack_small() -> bool {
    #[cfg(target_os = "linux")]
    return limit_of(libc::RLIMIT_STACK).is_some_and(|bytes| bytes < LEAST_MAIN_STACK_BYTES);
    #[cfg(not(target_os = "linux"))]
    false
}

/// The least stack size of the main thread, in bytes.
#[cfg(target_os = "linux")]
const LEAST_MAIN_STACK_BYTES: u64 = 1 << 20;

/// The limit of the system on a resource of this process, if there is one.
#[cfg(target_os = "linux")]
fn limit_of(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `getrlimit` writes to the structure, which is valid.
    let is_known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
    (is_known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// The least limit of the process's control group and the groups above it, in bytes. It is read once.
fn group_limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let text = read_to_string("/proc/self/cgroup").ok()?;
        text.lines().filter_map(group_folder).filter_map(|(folder, file)| least_limit(&folder, file)).min()
    })
}

/// The folder of a control group, and the name of the file with its limit, from a line of `/proc/self/cgroup`:
/// `0::/path` in version 2, `4:memory:/path` in version 1.
fn group_folder(line: &str) -> Option<(std::path::PathBuf, &'static str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
    match controllers {
        "" => Some((Path::new("/sys/fs/cgroup").join(path), "memory.max")),
        _ if controllers.split(',').any(|name| name == "memory") => {
            Some((Path::new("/sys/fs/cgroup/memory").join(path), "memory.limit_in_bytes"))
        }
        _ => None,
    }
}

/// The least limit in a folder and the folders above it. Version 1 writes "no limit" as a number near 2^63.
fn least_limit(folder: &Path, file: &str) -> Option<u64> {
    let limit = |folder: &Path| read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
    folder.ancestors().filter_map(limit).filter(|&bytes| bytes < 1 << 62).min()
}

/// Whether the process belongs to Masque.
static IS_OWN_PROCESS: AtomicBool = AtomicBool::new(false);

/// Declares that the process belongs to Masque: all its memory is the memory of a check. A program calls this before
/// it starts threads, because it also makes the threads of libraries reserve little address space.
///
/// The library of decision diagrams gives each thread a stack of 1 GiB by default, now at most 64 MiB. The C library
/// reserves 64 MiB or more for the heap of each thread, though only few of its own blocks are there. Large blocks are
/// mapped one by one.
pub fn own_process() {
    IS_OWN_PROCESS.store(true, Ordering::Relaxed);
    let has_one_thread = std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1);
    if !has_one_thread {
        return;
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` has no preconditions for these parameters.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        // The C library would raise this threshold to 32 MiB, and keep blocks below it when they are freed.
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES as libc::c_int);
    }
    if std::env::var_os(POOL_STACK_VARIABLE).is_none() {
        let most = room().map_or(u64::MAX, |bytes| bytes / POOL_STACK_SHARE);
        let bytes = USUAL_POOL_STACK_BYTES.min(most).max(LEAST_POOL_STACK_BYTES);
        // SAFETY: there is no other thread that could read the environment.
        unsafe { std::env::set_var(POOL_STACK_VARIABLE, bytes.to_string()) };
    }
}

/// The least memory limit that is enforced on the whole process, in bytes. Below it the program itself counts
/// too much.
const LEAST_WATCHED_BYTES: u64 = 128 << 20;

/// Part of a limit that has no allowance for what is not counted, in bytes. It leaves room for the growth until a process
/// is stopped: a debug build on a busy machine grew by 18 MB.
const GROWTH_MARGIN_BYTES: u64 = 64 << 20;

/// Returns the physical memory at which a process with this limit on its counted bytes is stopped: the limit, and up to
/// an eighth for what is not counted. It may grow until it has ended, which counts more if the limit is small.
pub fn watched_limit(memory: u64) -> u64 {
    let memory = memory.max(LEAST_WATCHED_BYTES);
    memory.saturating_add((memory - GROWTH_MARGIN_BYTES) / 8)
}

/// Returns whether the process belongs to Masque and uses more than `limit` bytes of physical memory, or nearly all
/// that its control group allows.
pub fn is_process_too_large(limit: Option<u64>) -> bool {
    let group = || group_limit().map(|bytes| bytes / 16 * 15);
    IS_OWN_PROCESS.load(Ordering::Relaxed)
        && limit.into_iter().chain(group()).min().is_some_and(|most| resident_bytes() > Some(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_groups_of_both_versions_are_found() {
        let (folder, file) = group_folder("0::/user.slice/job").unwrap();
        assert_eq!((folder.to_str(), file), (Some("/sys/fs/cgroup/user.slice/job"), "memory.max"));
        let (folder, file) = group_folder("4:cpu,memory:/job").unwrap();
        assert_eq!((folder.to_str(), file), (Some("/sys/fs/cgroup/memory/job"), "memory.limit_in_bytes"));
        assert!(group_folder("3:cpu:/job").is_none() && group_folder("").is_none());
    }

    #[test]
    fn the_least_limit_of_all_groups_above_counts() {
        let root = std::env::temp_dir().join(format!("masque-memory-{}", std::process::id()));
        let job = root.join("a/b");
        std::fs::create_dir_all(&job).unwrap();
        std::fs::write(job.join("memory.max"), "max\n").unwrap();
        assert_eq!(least_limit(&job, "memory.max"), None);
        std::fs::write(root.join("memory.max"), "5000\n").unwrap();
        std::fs::write(job.join("memory.max"), "7000\n").unwrap();
        assert_eq!(least_limit(&job, "memory.max"), Some(5000));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_watched_limit_is_less_than_an_eighth_above() {
        for (limit, watched) in [(1, 136), (128, 136), (256, 280), (1024, 1144)] {
            assert_eq!(watched_limit(limit << 20), watched << 20, "{limit}");
        }
        assert_eq!(watched_limit(u64::MAX), u64::MAX);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_uses_some_memory() {
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000 && bytes < 1 << 40));
        assert!(!is_process_too_large(Some(1)), "this process belongs to the tests");
        IS_OWN_PROCESS.store(true, Ordering::Relaxed);
        assert!(is_process_too_large(Some(1)) && !is_process_too_large(Some(1 << 40)));
    }
}
