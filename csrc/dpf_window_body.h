/* The bracket pass for one type and one instruction set. The including file defines
 *   DPF_SUFFIX    ends the names of the functions
 *   IN, OUT       the type read; the type compared and collected (IN widened without loss)
 *   IS_NAN(v)     v != v, or 0 for a type without NaN
 *   WIDE          bytes of a vector; 0 for plain C
 *   LANE, REG     (64 bytes) the lane type in the names of the intrinsics, and its register
 *   STAGE         values sorted out at a time
 * of which the first six lines are undefined again here.
 *
 * Lanes that are neither below lo nor above hi go to a small stage, which is sorted out when it is
 * full. A NaN compares false both ways and lands there too, so the pass itself never asks for it.
 */
#if WIDE
#define LANES (WIDE / (int)sizeof(OUT))
typedef IN DPF_NAME(window_in) __attribute__((vector_size(WIDE / sizeof(OUT) * sizeof(IN))));
typedef OUT DPF_NAME(window_vec) __attribute__((vector_size(WIDE)));
#else
#define LANES 1
#endif

/* Stage to output: count what equals a pivot and what is NaN, keep the rest while there is room. */
static void DPF_NAME(window_settle)(const OUT *stage, size_t staged, OUT lo, OUT hi, OUT *out,
                                    size_t room, dpf_window_counts *c)
{
    uint64_t at_lo = 0, at_hi = 0, nan = 0, kept = c->kept;
    size_t i = 0;
    if (room - kept >= staged + LANES) { /* no store can pass the end, not even a whole vector */
#if WIDE == 64
        const DPF_NAME(window_vec) vlo = lo - (DPF_NAME(window_vec)){0};
        const DPF_NAME(window_vec) vhi = hi - (DPF_NAME(window_vec)){0};
        for (; i + LANES <= staged; i += LANES) {
            DPF_NAME(window_vec) v;
            memcpy(&v, stage + i, sizeof v);
            uint32_t low = COMPARE(v, vlo, EQUAL), high = COMPARE(v, vhi, EQUAL);
            uint32_t keep = COMPARE(v, v, EQUAL) & ~(low | high), odd = ~COMPARE(v, v, EQUAL);
            odd &= (1u << LANES) - 1;
            at_lo += (uint64_t)__builtin_popcount(low);
            at_hi += (uint64_t)__builtin_popcount(high);
            nan += (uint64_t)__builtin_popcount(odd);
            KEEP(out + kept, keep, v);
            kept += (uint64_t)__builtin_popcount(keep);
        }
#endif
        for (; i < staged; i++) {
            OUT v = stage[i];
            int low = v == lo, high = v == hi, odd = IS_NAN(v);
            at_lo += (uint64_t)low;
            at_hi += (uint64_t)high;
            nan += (uint64_t)odd;
            out[kept] = v;
            kept += (uint64_t)!(low | high | odd);
        }
        c->between += kept - c->kept;
    } else {
        for (; i < staged; i++) {
            OUT v = stage[i];
            int low = v == lo, high = v == hi, odd = IS_NAN(v);
            at_lo += (uint64_t)low;
            at_hi += (uint64_t)high;
            nan += (uint64_t)odd;
            if (!(low | high | odd)) {
                c->between++;
                if (kept < room)
                    out[kept++] = v;
            }
        }
    }
    c->kept = kept;
    c->nan += nan;
    c->at_lo += at_lo;
    c->at_hi += lo == hi ? 0 : at_hi;
}

static void DPF_NAME(window_pass)(const void *values, size_t n, const void *pivots, void *to,
                                  size_t room, dpf_window_counts *c)
{
    const IN *x = (const IN *)values;
    const OUT lo = ((const OUT *)pivots)[0], hi = ((const OUT *)pivots)[1];
    OUT *out = (OUT *)to;
    OUT stage[STAGE + 5 * LANES];
    uint64_t reached = 0; /* not below lo, NaN included */
    size_t staged = 0, i = 0;
#if WIDE
#if WIDE == 64
    const DPF_NAME(window_vec) vlo = lo - (DPF_NAME(window_vec)){0};
    const DPF_NAME(window_vec) vhi = hi - (DPF_NAME(window_vec)){0};
#endif
    while (i + 4 * LANES <= n) {
        for (int u = 0; u < 4; u++, i += LANES) {
            DPF_NAME(window_in) read;
            memcpy(&read, x + i, sizeof read);
            const DPF_NAME(window_vec) v = __builtin_convertvector(read, DPF_NAME(window_vec));
#if WIDE == 64
            const LANE_MASK up = COMPARE(v, vlo, NOT_LESS), in = COMPARE_AND(up, vhi, v, NOT_LESS);
            KEEP(stage + staged, in, v);
            reached += (uint64_t)__builtin_popcount(up);
            staged += (size_t)__builtin_popcount(in);
#else
            const uint32_t down = BITS(v < lo);
            uint32_t in = ((1u << LANES) - 1) & ~(down | BITS(v > hi));
            reached += (uint64_t)(LANES - __builtin_popcount(down));
            for (; in; in &= in - 1)
                stage[staged++] = (OUT)x[i + (size_t)__builtin_ctz(in)];
#endif
        }
        if (staged >= STAGE) {
            DPF_NAME(window_settle)(stage, staged, lo, hi, out, room, c);
            staged = 0;
        }
    }
#endif
    while (i < n) {
        DPF_NAME(window_settle)(stage, staged, lo, hi, out, room, c);
        staged = 0;
        for (size_t stop = n - i < STAGE ? n : i + STAGE; i < stop; i++) {
            OUT v = (OUT)x[i];
            int up = !(v < lo);
            reached += (uint64_t)up;
            stage[staged] = v;
            staged += (size_t)(up & !(v > hi));
        }
    }
    DPF_NAME(window_settle)(stage, staged, lo, hi, out, room, c);
    c->below = n - reached;
    c->above = reached - c->at_lo - c->between - c->at_hi - c->nan;
}
#undef LANES
#undef KIND
#undef IN
#undef OUT
#undef IS_NAN
#undef LANE
#undef REG
