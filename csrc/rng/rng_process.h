/* Which process is this? A number that a forked child does not share with its parent.
 *
 * On Linux it lives on a page that the kernel itself empties in a child (MADV_WIPEONFORK), which
 * holds for every kind of fork, also with a reused process id, and costs one load. Elsewhere it is
 * the process id. Callers hold the GIL, so two threads never initialise at once.
 */
#ifndef DPF_RNG_PROCESS_H
#define DPF_RNG_PROCESS_H

#include <stdint.h>

uint64_t dpf_rng_process(void);

#endif
