/* A number of this process, which a forked child does not share with its parent.
 *
 * On Linux the number is on a page that the kernel zeroes in a child (MADV_WIPEONFORK). This works
 * for every kind of fork, also if a process id is reused, and costs one load. On other systems it
 * is the process id. Callers hold the GIL, so no two threads initialise it at once.
 */
#ifndef DPF_RNG_PROCESS_H
#define DPF_RNG_PROCESS_H

#include <stdint.h>

uint64_t dpf_rng_process(void);

#endif
