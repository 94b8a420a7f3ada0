/* The bracket pass for one type. The including file defines
 *   KIND          the type, in the names of the functions
 *   IN, OUT       the type that is read, and that which is compared and collected (IN or wider)
 *   IS_NAN(v)     v != v, or 0 for a type without NaN
 *   WIDE          the bytes in a vector, or 0 for plain C
 *   LANE_INT      the signed integer type of the size of OUT
 *   LANE, PACK, REG   (64 bytes) see summaries/window_types.h
 *   STAGE         the number of values in a block
 * of which KIND, IN, OUT, IS_NAN, LANE, PACK and REG are undefined again here.
 *
 * Of each block, the values that are neither below lo nor above hi are written to a small array,
 * the stage. Then the stage is divided into ties, NaN and others. A NaN is neither below nor above,
 * so it is in the stage, too, and is tested only there.
 */
#if WIDE
#define LANES (WIDE / (int)sizeof(OUT))
typedef IN DPF_TYPED(window_in) __attribute__((vector_size(WIDE / sizeof(OUT) * sizeof(IN))));
typedef OUT DPF_TYPED(window_vec) __attribute__((vector_size(WIDE)));
#else
#define LANES 1
#endif

/* Counts a value that is equal to a pivot or NaN, without a branch. Returns whether it is
 * neither. */
static inline int DPF_TYPED(window_between)(OUT v, OUT lo, OUT hi, uint64_t *at_lo, uint64_t *at_hi,
                                            uint64_t *nan)
{
    const int low = v == lo, high = v == hi, odd = IS_NAN(v);
    *at_lo += (uint64_t)low;
    *at_hi += (uint64_t)high;
    *nan += (uint64_t)odd;
    return !(low | high | odd);
}

/* Counts the values of the stage that are equal to a pivot or NaN, and copies the others to the
 * output while there is room. */
static void DPF_TYPED(window_settle)(const OUT *stage, size_t staged, OUT lo, OUT hi, OUT *out,
                                    size_t room, dpf_window_counts *c)
{
    uint64_t at_lo = 0, at_hi = 0, nan = 0, kept = c->kept;
    size_t i = 0;
    if (room - kept >= staged + LANES) { /* even a store of a whole vector ends inside of `out` */
#if WIDE == 64
        const DPF_TYPED(window_vec) vlo = lo - (DPF_TYPED(window_vec)){0};
        const DPF_TYPED(window_vec) vhi = hi - (DPF_TYPED(window_vec)){0};
        for (; i + LANES <= staged; i += LANES) {
            DPF_TYPED(window_vec) v;
            memcpy(&v, stage + i, sizeof v);
            uint32_t low = COMPARE(v, vlo, EQUAL), high = COMPARE(v, vhi, EQUAL);
            uint32_t keep = COMPARE(v, v, EQUAL) & ~(low | high), odd = ~COMPARE(v, v, EQUAL);
            odd &= (1u << LANES) - 1;
            at_lo += (uint64_t)__builtin_popcount(low);
            at_hi += (uint64_t)__builtin_popcount(high);
            nan += (uint64_t)__builtin_popcount(odd);
            KEEP(out + kept, (LANE_MASK)keep, v);
            kept += (uint64_t)__builtin_popcount(keep);
        }
#endif
        for (; i < staged; i++) {
            const OUT v = stage[i];
            out[kept] = v;
            kept += (uint64_t)DPF_TYPED(window_between)(v, lo, hi, &at_lo, &at_hi, &nan);
        }
        c->between += kept - c->kept;
    } else {
        for (; i < staged; i++) {
            const OUT v = stage[i];
            if (DPF_TYPED(window_between)(v, lo, hi, &at_lo, &at_hi, &nan)) {
                c->between++;
                if (kept < room)
                    out[kept++] = v;
            }
        }
    }
    c->kept = kept;
    c->nan += nan;
    c->at_lo += at_lo;
    c->at_hi += at_hi;
}

/* Copies the values of a block that are not outside the pivots to the stage. Returns how many they
 * are, and adds the number of values not below lo to *reached. A block has at most STAGE values. */
static size_t DPF_TYPED(window_scan)(const IN *x, size_t n, OUT lo, OUT hi, OUT *stage,
                                    uint64_t *reached)
{
    size_t staged = 0, i = 0;
    uint64_t up_to_here = 0;
#if WIDE == 64
    const DPF_TYPED(window_vec) vlo = lo - (DPF_TYPED(window_vec)){0};
    const DPF_TYPED(window_vec) vhi = hi - (DPF_TYPED(window_vec)){0};
    for (; i + LANES <= n; i += LANES) {
        const DPF_TYPED(window_vec) v = (DPF_TYPED(window_vec))LOAD(x + i);
        dpf_fetch_ahead(x + i);
        const LANE_MASK up = COMPARE(v, vlo, NOT_LESS), in = COMPARE_AND(up, vhi, v, NOT_LESS);
        KEEP(stage + staged, in, v);
        up_to_here += (uint64_t)_mm_popcnt_u64(up);
        staged += (size_t)_mm_popcnt_u64(in);
    }
#elif WIDE == 32
    for (; i + LANES <= n; i += LANES) {
        DPF_TYPED(window_in) read;
        memcpy(&read, x + i, sizeof read);
        dpf_fetch_ahead(x + i);
        const DPF_TYPED(window_vec) v = __builtin_convertvector(read, DPF_TYPED(window_vec));
        const uint32_t down = BITS(v < lo);
        const uint32_t in = ((1u << LANES) - 1) & ~(down | BITS(v > hi));
        up_to_here += (uint64_t)(LANES - __builtin_popcount(down));
        KEEP(stage + staged, in, v);
        staged += (size_t)__builtin_popcount(in);
    }
#elif WIDE == 16
    /* Without masks of lanes: test whether all values of four vectors are outside, which they
     * mostly are. */
    typedef LANE_INT truth __attribute__((vector_size(16)));
    truth down_here = {0}; /* minus the number of values below lo, in each lane */
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        truth outside = ~(truth){0};
        dpf_fetch_ahead(x + i);
        for (size_t j = i; j < i + 4 * LANES; j += LANES) {
            DPF_TYPED(window_in) read;
            memcpy(&read, x + j, sizeof read);
            const DPF_TYPED(window_vec) v = __builtin_convertvector(read, DPF_TYPED(window_vec));
            const truth down = v < lo;
            down_here += down;
            outside &= down | (v > hi);
        }
        uint64_t half[2];
        memcpy(half, &outside, sizeof half);
        if ((half[0] & half[1]) != UINT64_MAX)
            for (size_t j = i; j < i + 4 * LANES; j++) {
                OUT v = (OUT)x[j];
                stage[staged] = v;
                staged += (size_t)(!(v < lo) & !(v > hi));
            }
    }
    up_to_here = i;
    for (int l = 0; l < LANES; l++)
        up_to_here -= (uint64_t)-down_here[l];
#endif
    for (; i < n; i++) {
        OUT v = (OUT)x[i];
        int up = !(v < lo);
        up_to_here += (uint64_t)up;
        stage[staged] = v;
        staged += (size_t)(up & !(v > hi));
    }
    *reached += up_to_here;
    return staged;
}

#if WIDE == 64
/* Copies the values of a block that are not outside all pairs of pivots to the stage. There are at
 * most MANY pairs, which may overlap. Adds to `reached` of each pair the number of values not below
 * its lower pivot. A block has at most STAGE values. */
static size_t DPF_TYPED(window_sieve)(const void *values, size_t n, size_t brackets,
                                     const void *const *pivots, void *out, uint64_t *reached)
{
    const IN *x = (const IN *)values;
    OUT *stage = (OUT *)out;
    DPF_TYPED(window_vec) vlo[MANY], vhi[MANY];
    uint64_t up_to_here[MANY] = {0};
    size_t staged = 0, i = 0;
    for (size_t b = 0; b < brackets; b++) {
        vlo[b] = ((const OUT *)pivots[b])[0] - (DPF_TYPED(window_vec)){0};
        vhi[b] = ((const OUT *)pivots[b])[1] - (DPF_TYPED(window_vec)){0};
    }
    for (; i + LANES <= n; i += LANES) {
        const DPF_TYPED(window_vec) v = (DPF_TYPED(window_vec))LOAD(x + i);
        LANE_MASK in = 0;
        for (size_t b = 0; b < brackets; b++) {
            const LANE_MASK up = COMPARE(v, vlo[b], NOT_LESS);
            up_to_here[b] += (uint64_t)_mm_popcnt_u64(up);
            in |= COMPARE_AND(up, vhi[b], v, NOT_LESS);
        }
        KEEP(stage + staged, in, v);
        staged += (size_t)_mm_popcnt_u64(in);
    }
    for (; i < n; i++) {
        const OUT v = (OUT)x[i];
        int any = 0;
        for (size_t b = 0; b < brackets; b++) {
            const OUT lo = ((const OUT *)pivots[b])[0], hi = ((const OUT *)pivots[b])[1];
            const int up = !(v < lo);
            up_to_here[b] += (uint64_t)up;
            any |= up & !(v > hi);
        }
        stage[staged] = v;
        staged += (size_t)any;
    }
    for (size_t b = 0; b < brackets; b++)
        reached[b] += up_to_here[b];
    return staged;
}
#endif

/* Both pivots are equal, which happens with many ties: nothing is collected, and three counts are
 * enough. */
static void DPF_TYPED(window_ties)(const IN *x, size_t n, OUT value, dpf_window_counts *c)
{
    for (size_t i = 0; i < n;) {
        LANE_INT below = 0, at = 0, above = 0; /* of the size of a lane: no overflow */
        for (size_t stop = n - i < STAGE ? n : i + STAGE; i < stop; i++) {
            const OUT v = (OUT)x[i];
            below += v < value;
            at += v == value;
            above += v > value;
        }
        c->below += (uint64_t)below;
        c->at_lo += (uint64_t)at;
        c->above += (uint64_t)above;
    }
    c->nan = n - c->below - c->at_lo - c->above;
}

static void DPF_TYPED(window_pass)(const void *values, size_t n, const void *pivots, void *out,
                                  size_t room, dpf_window_counts *c)
{
    const OUT lo = ((const OUT *)pivots)[0], hi = ((const OUT *)pivots)[1];
    OUT stage[STAGE + LANES]; /* the last store may be of a whole vector */
    uint64_t reached = 0;     /* how many values are not below lo, NaN included */
    if (lo == hi) {
        DPF_TYPED(window_ties)((const IN *)values, n, lo, c);
        return;
    }
    for (size_t i = 0; i < n; i += STAGE) {
        size_t staged = DPF_TYPED(window_scan)((const IN *)values + i, n - i < STAGE ? n - i : STAGE,
                                              lo, hi, stage, &reached);
        DPF_TYPED(window_settle)(stage, staged, lo, hi, (OUT *)out, room, c);
    }
    c->below = n - reached;
    c->above = reached - c->at_lo - c->between - c->at_hi - c->nan;
}
#undef LANES
#undef KIND
#undef IN
#undef OUT
#undef IS_NAN
#undef LANE
#undef PACK
#undef REG
