// A clock for programs that this library is preloaded into: the milliseconds since the epoch in the file FAKE_CLOCK, as 64 bits.
// Monotonic clocks keep running, so that the program's timers work. (libfaketime does not work with jemalloc.)
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *milliseconds;

__attribute__((constructor)) static void open_clock(void) {
  const char *path = getenv("FAKE_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  void *page = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) milliseconds = page;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  if (!milliseconds) return (int)syscall(SYS_gettimeofday, now, NULL);
  now->tv_sec = *milliseconds / 1000;
  now->tv_usec = *milliseconds % 1000 * 1000;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (clock != CLOCK_REALTIME || !milliseconds) return (int)syscall(SYS_clock_gettime, clock, now);
  now->tv_sec = *milliseconds / 1000;
  now->tv_nsec = *milliseconds % 1000 * 1000000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
