#include "statistics/draw.h"

#include "core/bits.h"

__extension__ typedef __int128 wide;

/* A window is wide enough if an outer run is proposed at most once in 2^SELDOM times. */
#define SELDOM 12
/* The fraction of a cell is part / ONE. */
#define ONE ((int64_t)1 << 32)
/* Half a rank, in units of 2^-64. */
#define HALF ((wide)1 << 63)
/* The number of blocks of fractions on either side of the target. Fractions in the last block are
 * more than 2^BLOCKS / c away. */
#define BLOCKS 8
/* ln 2, with a relative error of at most 2^-53. */
#define LN2 0x1.62e42fefa39efp-1
/* The sizes of runs that are no blocks of fractions: cells with the same positions; an end that is
 * not divided; and a whole gap, where each proposed cell has its own position. */
#define ALIKE 0
#define UNDIVIDED (-1)
#define GAP (-2)
/* Gaps within this number of half ranks of the target are divided into runs with equal positions,
 * so that few proposals are rejected. (Fractions of the ties of more than ONE rows may be farther
 * than that.) */
#define CLOSE 3

/* The total weight of the cells 0 .. m - 1. A cell from 2^k - 1 on, for k >= floor, has the weight
 * 2^(top - k), and each cell before these has the weight 2^(top - floor). */
static inline int64_t around(const dpf_draw_base *base, int64_t m)
{
    const int bits = (int)(bits_of((double)(m + 1)) >> 52) - 1023; /* m is below 2^53 */
    const int top = base->top, floor = base->floor, k = bits < floor ? floor : bits;
    const int64_t beyond = (m + 1 - ((int64_t)1 << k)) * ((int64_t)1 << (top - k));
    return ((int64_t)(k - floor) << top) + ((((int64_t)1 << floor) - 1) << (top - floor)) + beyond;
}

static int64_t upto(const dpf_draw_base *base, int64_t cell)
{
    int64_t total = base->each * (cell + base->shift) + (cell >= 0 ? base->zero : 0);
    if (base->above)
        total += cell >= 0 ? base->above * around(base, cell + 1) : -base->below * around(base, -1 - cell);
    const double above = (double)(cell + 1);
    for (size_t j = 0; j < base->spacings; j++) {
        const double times = above / base->spacing[j];
        const int64_t below = (int64_t)times; /* rounded towards 0 */
        total += base->weight[j] * (below - ((double)below >= times));
    }
    return total;
}

/* Draws a cell of start .. end in proportion to its weight; all weights add up to `mass`. It is the
 * first cell for which the sum of weights is above a random number. Weights are nearly equal in
 * most gaps. So the search looks in turn a little below and a little above the cell that equal
 * weights would give, and in the middle of the remaining cells. */
static int64_t cell_of(const dpf_draw_base *base, int64_t start, int64_t end, int64_t mass,
                       dpf_words *words)
{
    if (start == end)
        return start;
    int64_t below = upto(base, start - 1), above = below + mass;
    const int64_t place = (int64_t)dpf_words_below(words, (uint64_t)mass) + below;
    for (int turn = 0; start < end; turn = turn == 2 ? 0 : turn + 1) {
        const int64_t span = end - start, margin = (span >> 7) + 1;
        int64_t at = start + span / 2;
        if (turn < 2) {
            const double share = (double)(place - below) / (double)(above - below);
            at = start + (int64_t)(share * (double)span) + (turn ? margin : -margin);
            at = at < start ? start : at >= end ? end - 1 : at;
        }
        const int64_t sum = upto(base, at);
        if (sum > place)
            end = at, above = sum;
        else
            start = at + 1, below = sum;
    }
    return start;
}

typedef struct {
    const dpf_draw *in;
    const dpf_draw_room *room;
    wide target; /* in units of 2^-64 */
    size_t runs;
    int64_t next, before; /* the first cell in no run yet, and the weight of all cells before it */
} survey;

/* Adds a run: the cells from the next one to `end`, with `rank` rows below them. */
static inline void run(survey *s, int64_t end, int64_t rank, int64_t low, int64_t high)
{
    if (s->next > end)
        return;
    const size_t i = s->runs++;
    const int64_t sum = upto(&s->in->base, end);
    s->room->start[i] = s->next;
    s->room->end[i] = end;
    s->room->low[i] = low;
    s->room->high[i] = high;
    s->room->size[i] = ALIKE;
    s->room->begin[i] = rank;
    s->room->mass[i] = sum - s->before;
    s->before = sum;
    s->next = end + 1;
}

/* Returns w (see draw.h) for a gap of `span` cells. */
static inline int64_t beside(const survey *s, int64_t span)
{
    const int64_t near = s->in->share * span >> 20;
    return near > (span - 1) / 2 ? (span - 1) / 2 : near;
}

/* Adds the runs of a gap: the cells before `end`, which is an end or a cell with rows, after `rank`
 * rows. */
static inline void gap(survey *s, int64_t end, int64_t rank)
{
    const int64_t from = s->next - 1, away = 2 * rank - (int64_t)(s->target >> 63);
    const size_t i = s->runs;
    if ((away > CLOSE || away < -CLOSE) && s->in->n < ONE) {
        run(s, end - 1, rank, 2 * rank - 1, 2 * rank + 1);
        s->room->size[i] = GAP;
        return;
    }
    const int64_t near = beside(s, end - from);
    run(s, from + near, rank, 2 * rank - 1, 2 * rank - 1);
    run(s, end - near - 1, rank, 2 * rank, 2 * rank);
    run(s, end - 1, rank, 2 * rank + 1, 2 * rank + 1);
}

/* Returns twice the position of a cell of a whole gap. */
static inline int64_t place_of(const survey *s, size_t i, int64_t cell)
{
    const int64_t from = s->room->start[i] - 1, end = s->room->end[i] + 1;
    const int64_t near = beside(s, end - from);
    return 2 * s->room->begin[i] + (cell - from <= near ? -1 : end - cell <= near);
}

/* A cell whose position depends on the fraction: start + part rise, in units of 2^-64. */
typedef struct {
    wide start, rise;
    int64_t first, parts; /* the fractions are first .. first + parts - 1 */
} divided;

static inline divided divided_of(const dpf_draw *in, int64_t cell, int64_t less, int64_t leq)
{
    divided d = {((wide)less << 64) + HALF, (wide)(leq - less - 1) * ONE, 0, ONE};
    if (cell == in->low.cell || cell == in->high.cell) {
        const int high = cell == in->high.cell;
        d.start = (wide)less << 64;
        d.rise = (wide)(leq - less) * ONE;
        d.first = high ? 0 : in->low.part;
        d.parts = high ? in->high.part : ONE - in->low.part;
        d.parts = d.parts < 1 ? 1 : d.parts;
    }
    return d;
}

/* Returns the least distance of a block of fractions from the target, in units of 2^-64. */
static inline wide away(const survey *s, const divided *d, int64_t begin, int64_t size)
{
    const wide low = d->start + begin * d->rise - s->target;
    const wide high = s->target - d->start - (begin + size - 1) * d->rise;
    return low > 0 ? low : high > 0 ? high : 0;
}

/* Returns k = log2(parts / size), rounded down. A block is proposed as if it were the share 2^-k of
 * its cell. */
static inline int halvings(int64_t parts, int64_t size)
{
    int k = 0;
    while (size << (k + 1) <= parts)
        k++;
    return k;
}

static inline void block(survey *s, const divided *d, size_t i, int64_t begin, int64_t size)
{
    const dpf_draw_room *room = s->room;
    const size_t last = s->runs - 1;
    room->start[i] = room->end[i] = room->start[last];
    room->low[i] = room->low[last];
    room->high[i] = room->high[last];
    room->mass[i] = room->mass[last];
    room->begin[i] = begin;
    room->size[i] = size;
    room->distance[i] = (double)away(s, d, begin, size) * 0x1p-63 +
                        halvings(d->parts, size) * LN2 / s->in->c;
}

/* Adds the runs of the next cell, which has rows, with their fractions. If they span few ranks, it
 * is one run. Otherwise there are blocks that grow with the distance from the target. So the
 * distances in a block are similar to the least one, or their weights are negligible. */
static void tie(survey *s, int64_t less, int64_t leq)
{
    const dpf_draw *in = s->in;
    const divided d = divided_of(in, s->next, less, leq);
    const size_t first = s->runs;
    run(s, s->next, less, less, leq);
    const double ranks = (double)d.rise * (double)d.parts * 0x1p-63; /* in half ranks */
    if (!(ranks * in->c > 2)) {
        block(s, &d, first, d.first, d.parts);
        return;
    }
    const wide above = s->target - d.start;
    wide at = above <= 0 ? 0 : (above + d.rise - 1) / d.rise;
    const int64_t stop = d.first + d.parts;
    at = at < d.first ? d.first : at > stop ? stop : at;
    const double few = (double)d.parts / (ranks * in->c);
    const int64_t least = few < 1 ? 1 : (int64_t)few;
    size_t i = first;
    int64_t begin = (int64_t)at, size = least;
    for (int b = 1; begin < stop; b++, size *= 2) {
        if (b == BLOCKS || size > stop - begin)
            size = stop - begin;
        block(s, &d, i++, begin, size);
        begin += size;
    }
    size = least;
    int64_t end = (int64_t)at;
    for (int b = 1; end > d.first; b++, size *= 2) {
        if (b == BLOCKS || size > end - d.first)
            size = end - d.first;
        end -= size;
        block(s, &d, i++, end, size);
    }
    s->runs = i;
}

/* Returns the distance of an end's rows in the node from the target, in units of 2^-64. */
static inline wide end_distance(const survey *s, int64_t less, int64_t leq, int high)
{
    const dpf_draw_end *end = high ? &s->in->high : &s->in->low;
    const wide mark = ((wide)less << 64) + (wide)(leq - less) * end->part * ONE;
    const wide below = s->target - (high ? mark : (wide)leq << 64);
    const wide above = (high ? (wide)less << 64 : mark) - s->target;
    return below > 0 ? below : above > 0 ? above : 0;
}

/* Adds the run or runs of the next cell, which is an end. */
static inline void outermost(survey *s, int64_t less, int64_t leq, int high)
{
    const dpf_draw *in = s->in;
    if (in->divides) {
        tie(s, less, leq);
        return;
    }
    const size_t i = s->runs;
    run(s, high ? in->high.cell : in->low.cell, less, less, leq);
    s->room->size[i] = UNDIVIDED;
    s->room->distance[i] = (double)end_distance(s, less, leq, high) * 0x1p-63;
}

/* Returns how many half ranks are cut off a side of the positions of a cell with `rows` rows. */
static inline int64_t lacking(const dpf_draw *in, int64_t rows, int64_t place)
{
    return (int64_t)((wide)(rows - 1 < in->ties ? rows - 1 : in->ties) * place >> 31);
}

/* Returns how many of w ascending cells are below `cell`. */
static size_t first_from(const int64_t *rows, size_t w, int64_t cell)
{
    size_t from = 0;
    while (w > 0) {
        const size_t half = w / 2;
        if (rows[from + half] < cell)
            from += half + 1, w -= half + 1;
        else
            w = half;
    }
    return from;
}

/* Adds all runs, ascending. The last argument becomes whether the first and whether the last run
 * are outside the window. Returns 0, -1, or DPF_DRAW_NARROW. */
static int survey_of(survey *s, const int64_t *rows, size_t w, int lump[2])
{
    const dpf_draw *in = s->in;
    const int64_t before = in->before, after = before + (int64_t)w;
    /* Rows from .. to - 1 of the window are on cells between the ends. */
    size_t from = first_from(rows, w, in->low.cell + 1), to = first_from(rows, w, in->high.cell);
    /* leq and less: the rows up to the low end, and below the high end. If the window has only a
     * part of the rows on an end, the target is in the window, so in the part that is known. */
    const int low_open = in->low.leq < 0, high_open = in->high.less < 0;
    const int64_t under = in->under < 0 ? before : in->under, over = in->over < 0 ? after : in->over;
    const int64_t leq = low_open ? (from || !before ? before + (int64_t)from : 0) : in->low.leq;
    const int64_t less = !high_open ? in->high.less : to == w ? over : before + (int64_t)to;
    if (in->divides && ((low_open && from == w && after < in->n) || (high_open && to == 0 && before)))
        return DPF_DRAW_NARROW;
    lump[0] = from == 0 && under > leq;
    lump[1] = to == w && over < (high_open ? in->n : less);
    int64_t below = 2 * less + 1, above = 2 * leq - 1; /* the nearest positions of outer runs */
    int64_t below_end = in->high.cell - 1;
    if (from < to) {
        below = 2 * under + 1, above = 2 * over - 1;
        below_end = rows[from] - 1;
        const int64_t last = rows[to - 1];
        const size_t first = first_from(rows, to, rows[from] + 1), start = first_from(rows, to, last);
        /* The window may have only a part of the rows on its first and its last cell. Then their
         * positions may be unknown. */
        if (lump[0] && in->under < 0 && (in->divides || (int64_t)(first - from) <= in->ties)) {
            below_end = rows[from];
            from = first;
            below = 2 * (before + (int64_t)from) - 1;
        }
        if (lump[1] && in->over < 0 && start >= from &&
            (in->divides || (int64_t)(to - start) <= in->ties))
            above = 2 * (before + (int64_t)start) + 1, to = start;
    }
    if (lump[0])
        run(s, below_end, 0, INT64_MIN, below);
    else
        outermost(s, in->low.less, leq, 0);
    int64_t rank = lump[0] && from == 0 ? under : lump[0] ? before + (int64_t)from : leq;
    for (size_t i = from, end; i < to; i = end) {
        const int64_t cell = rows[i];
        for (end = i + 1; end < to && rows[end] == cell;)
            end++;
        if (end < to && rows[end] < cell)
            return -1;
        gap(s, cell, rank);
        const int64_t leq_here = end == w ? over : before + (int64_t)end;
        if (in->divides)
            tie(s, rank, leq_here);
        else
            run(s, cell, rank, 2 * rank + 1 + lacking(in, leq_here - rank, in->place),
                2 * leq_here - 1 - lacking(in, leq_here - rank, ONE - in->place));
        rank = leq_here;
    }
    if (lump[1]) {
        if (to < w) /* up to the cell that was left out, or the high end */
            gap(s, rows[to], rank);
        run(s, in->high.cell, 0, above, INT64_MAX);
        return 0;
    }
    gap(s, in->high.cell, rank);
    outermost(s, less, in->high.leq, 1);
    return 0;
}

/* Returns the distance of the positions low / 2 .. high / 2 from the target, in units of 2^-64. */
static inline wide apart(const survey *s, wide low, wide high)
{
    const wide above = low * HALF - s->target, below = s->target - high * HALF;
    return above > 0 ? above : below > 0 ? below : 0;
}

/* Returns the least distance of a run from the target, in units of 2^-64. The run is in the window,
 * and is no block of fractions. */
static wide distance_of(const survey *s, size_t i)
{
    const dpf_draw_room *room = s->room;
    if (room->size[i] == UNDIVIDED)
        return end_distance(s, room->low[i], room->high[i], room->start[i] == s->in->high.cell);
    if (room->size[i] == ALIKE)
        return apart(s, room->low[i], room->high[i]);
    const int one = beside(s, room->end[i] - room->start[i] + 2) > 0;
    return apart(s, 2 * room->begin[i] - one, 2 * room->begin[i] + one);
}

int dpf_draw_node(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found)
{
    const wide half = HALF, target = 2 * HALF * in->whole + in->rest;
    survey s = {in, room, target, 0, in->low.cell, upto(&in->base, in->low.cell - 1)};
    const int64_t after = in->before + (int64_t)w;
    if ((in->before > 0 && target < (2 * in->before + 1) * half) ||
        (after < in->n && target > (2 * after - 1) * half))
        return in->narrow ? DPF_DRAW_NARROW : -1;
    int lump[2];
    const int status = survey_of(&s, rows, w, lump);
    if (status)
        return status == DPF_DRAW_NARROW && !in->narrow ? -1 : status;
    const int64_t whole = (int64_t)(target >> 63);
    const uint64_t left = (uint64_t)target & (UINT64_MAX >> 1);
    const double rest = (double)left * 0x1p-63, more = (double)(((uint64_t)1 << 63) - left) * 0x1p-63;
    for (size_t i = 0; i < s.runs; i++) /* sums of one sign: a relative error below 2^-51 */
        if (room->size[i] == ALIKE || room->size[i] == GAP)
            room->distance[i] = room->high[i] <= whole  ? (double)(whole - room->high[i]) + rest
                                : room->low[i] > whole ? (double)(room->low[i] - whole - 1) + more
                                                       : 0;
    dpf_choice_runs runs = {room->distance, room->mass, room->total, s.runs, in->c, 0, 0, 0};
    if (dpf_choice_bounds(&runs))
        return -1;
    if (in->narrow) { /* the proposal of an outer run would need a pass over the data */
        const uint64_t lumps = (lump[0] ? dpf_choice_bound(runs.total, 0) : 0) +
                               (lump[1] ? dpf_choice_bound(runs.total, s.runs - 1) : 0);
        if (lumps > runs.total[s.runs - 1] >> SELDOM)
            return DPF_DRAW_NARROW;
    }
    wide least = (wide)INT64_MAX << 64;
    for (size_t i = lump[0] ? 1 : 0; in->flips && i + (lump[1] ? 1 : 0) < s.runs; i++) {
        const wide u = distance_of(&s, i);
        least = u < least ? u : least;
    }
    found->near = (int64_t)(least >> 64);
    found->nearer = (uint64_t)least;
    found->all = runs.total[s.runs - 1];
    for (found->tries = 1;; found->tries++) {
        int64_t i;
        uint8_t kept = DPF_CHOICE_NO;
        dpf_choice_propose(&runs, words, &i, 1);
        const int64_t size = room->size[i];
        const int of_lump = (lump[0] && i == 0) || (lump[1] && (size_t)i == s.runs - 1);
        found->cell = cell_of(&in->base, room->start[i], room->end[i], room->mass[i], words);
        const int ranks = size > 0 || size == UNDIVIDED; /* otherwise the cell is in a gap */
        found->less = ranks ? room->low[i] : room->begin[i];
        found->leq = ranks ? room->high[i] : room->begin[i];
        found->part = 0;
        double distance = room->distance[i];
        wide u = 0;
        int k = 0;
        if (size > 0) { /* a fraction of the block; proposals are thinned to size 2^k / parts */
            const divided d = divided_of(in, found->cell, found->less, found->leq);
            k = halvings(d.parts, size);
            const int64_t place = (int64_t)dpf_words_below(words, (uint64_t)d.parts);
            if (place >= size << k) {
                if (words->short_of)
                    return DPF_DRAW_DONE;
                continue;
            }
            found->part = room->begin[i] + (place >> k);
            u = away(&s, &d, found->part, 1);
            distance = (double)u * 0x1p-63 + k * LN2 / in->c;
        } else if (size == GAP) {
            u = place_of(&s, (size_t)i, found->cell) * half - target;
            u = u < 0 ? -u : u;
            distance = (double)u * 0x1p-63;
        }
        if (!of_lump)
            dpf_choice_keep(&runs, words, &i, &distance, 0, &kept, 0, 1, &found->word);
        if (of_lump || kept != DPF_CHOICE_NO || words->short_of) { /* short_of ends every loop */
            found->mass = room->mass[i];
            found->bound = dpf_choice_bound(runs.total, (size_t)i);
            found->scale = runs.lift + runs.shift - k;
            if (!of_lump && (size == ALIKE || size == UNDIVIDED))
                u = distance_of(&s, (size_t)i);
            found->far = (int64_t)(u >> 64);
            found->further = (uint64_t)u;
            return of_lump ? DPF_DRAW_LUMP : kept == DPF_CHOICE_OPEN ? DPF_DRAW_OPEN : DPF_DRAW_DONE;
        }
    }
}
