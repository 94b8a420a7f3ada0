#define _DEFAULT_SOURCE /* MAP_ANONYMOUS and madvise under -std=c11 */
#include "rng/rng_process.h"

#include <stddef.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Returns a page that is zeroed in a forked child, or NULL if the kernel does not support that. */
static volatile uint64_t *wiped_page(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    /* An emulator may accept any advice and ignore it: such a one accepts the advice -1, too. */
    if (madvise(page, bytes, -1) == 0 || madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, bytes);
        return NULL;
    }
    return (volatile uint64_t *)page;
}

uint64_t dpf_rng_process(void)
{
    static int asked;
    static uint64_t generation;
    static volatile uint64_t *page;
    if (!asked) {
        page = wiped_page();
        asked = 1;
    }
    if (page == NULL)
        return (uint64_t)getpid();
    if (*page == 0) /* a new page, or a child: one more than the number of any ancestor */
        *page = ++generation;
    return *page;
}
#elif defined(_WIN32)
uint64_t dpf_rng_process(void)
{
    return 1; /* there is no fork */
}
#else
#include <unistd.h>

uint64_t dpf_rng_process(void)
{
    return (uint64_t)getpid();
}
#endif
