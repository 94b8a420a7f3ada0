#include "statistics/draw.h"

#include "core/bits.h"

/* A window is wide enough if a lump is proposed once in 2^SELDOM times. */
#define SELDOM 12

/* What the cells 0 .. m - 1 weigh, of which those from 2^k - 1 on weigh 2^(top - k) octave each. */
static inline int64_t around(const dpf_draw_base *base, int64_t m)
{
    const int k = (int)(bits_of((double)(m + 1)) >> 52) - 1023; /* m is below 2^53 */
    const int64_t beyond = m + 1 - ((int64_t)1 << k);
    return base->octave * (((int64_t)k << base->top) + (beyond << (base->top - k)));
}

static int64_t upto(const dpf_draw_base *base, int64_t cell)
{
    const int64_t place = cell + base->shift;
    int64_t total = base->each * place;
    if (base->unit) {
        int64_t whole = 0;
        for (int k = base->low; k <= base->high; k += 2)
            whole += place >> k << k;
        total += base->unit * whole;
    }
    if (base->octave)
        total += cell >= 0 ? around(base, cell + 1) : -around(base, -1 - cell);
    for (size_t j = 0; j < base->spacings; j++) {
        const double times = (double)(cell + 1) / base->spacing[j];
        const int64_t below = (int64_t)times; /* towards 0 */
        total += base->weight[j] * (below - ((double)below >= times));
    }
    return total;
}

/* A cell of start .. end, whose weights add up to `mass`, in proportion to its weight. */
static int64_t cell_of(const dpf_draw_base *base, int64_t start, int64_t end, int64_t mass,
                       dpf_words *words)
{
    if (start == end)
        return start;
    const int64_t place = (int64_t)dpf_words_below(words, (uint64_t)mass) + upto(base, start - 1);
    while (start < end) { /* the first cell up to which they are more */
        const int64_t middle = start + (end - start) / 2;
        if (upto(base, middle) > place)
            end = middle;
        else
            start = middle + 1;
    }
    return start;
}

typedef struct {
    const dpf_draw *in;
    const dpf_draw_room *room;
    size_t runs;
    int64_t next, before; /* the first cell that is in no run yet, and what those before it weigh */
} survey;

/* The cells from the next one to `end`, as far as they are asked for. Returns whether any are. */
static inline int run(survey *s, int64_t end, int64_t low, int64_t high)
{
    if (end > s->in->last)
        end = s->in->last;
    if (s->next > end)
        return 0;
    const size_t i = s->runs++;
    const int64_t sum = upto(&s->in->base, end);
    s->room->start[i] = s->next;
    s->room->end[i] = end;
    s->room->low[i] = low;
    s->room->high[i] = high;
    s->room->mass[i] = sum - s->before;
    s->before = sum;
    s->next = end + 1;
    return 1;
}

/* The cells up to `end`, one of which rows are on again, after `rank` rows. Returns as above. */
static inline int gap(survey *s, int64_t end, int64_t rank)
{
    if (s->in->share < 0)
        return run(s, end - 1, rank, rank);
    const int64_t from = s->next - 1, span = end - from;
    int64_t near = s->in->share * span >> 20;
    near = near > (span - 1) / 2 ? (span - 1) / 2 : near;
    const int some = run(s, from + near, 2 * rank, 2 * rank) +
                     run(s, end - near - 1, 2 * rank + 1, 2 * rank + 1);
    return run(s, end - 1, 2 * rank + 2, 2 * rank + 2) + some;
}

int dpf_draw_cell(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found)
{
    survey s = {in, room, 0, in->first, upto(&in->base, in->first - 1)};
    const int halves = in->share >= 0;
    int low = 0, high = 0;
    /* By turns the gap before a cell that rows are on, and that cell; at last the gap after all. */
    for (size_t i = 0, end; i < w; i = end) {
        const int64_t cell = rows[i], rank = in->before + (int64_t)i;
        for (end = i + 1; end < w && rows[end] == cell;)
            end++;
        if (end < w && rows[end] < cell)
            return -1;
        if (i == 0 && in->before > 0)
            low = run(&s, cell - 1, halves ? 2 * rank + 2 : rank, halves ? 2 * rank + 2 : rank);
        else
            gap(&s, cell, rank);
        const int64_t upper = in->before + (int64_t)end;
        run(&s, cell, halves ? 2 * rank + 2 : rank, halves ? 2 * upper : upper);
    }
    const int64_t rank = in->before + (int64_t)w;
    if (rank < in->n)
        high = run(&s, in->last, halves ? 2 * rank : rank, halves ? 2 * rank : rank);
    else
        gap(&s, in->last + 1, rank);
    if (s.runs == 0)
        return -1;
    /* A lump is told the rank that the window ends with, which must be the nearest of all in it. */
    if ((low && room->low[0] > in->whole) ||
        (high && (room->high[s.runs - 1] < in->whole + (in->rest > 0))))
        return in->narrow ? DPF_DRAW_NARROW : -1;
    /* Where all runs are on one side of the target, their distances are those from the nearest. */
    int64_t whole = in->whole;
    double rest = in->rest, more = in->more;
    found->bottom = room->low[0];
    found->top = room->high[s.runs - 1];
    if (whole < found->bottom)
        whole = found->bottom, rest = 0, more = 1;
    else if (whole >= found->top)
        whole = found->top, rest = 0, more = 1;
    for (size_t i = 0; i < s.runs; i++) /* numbers of one sign are added: a relative 2^-51 */
        room->distance[i] = room->high[i] <= whole  ? (double)(whole - room->high[i]) + rest
                            : room->low[i] > whole ? (double)(room->low[i] - whole - 1) + more
                                                   : 0;
    dpf_choice_runs runs = {room->distance, room->mass, room->total, s.runs, in->c, 0, 0, 0};
    if (dpf_choice_bounds(&runs))
        return -1;
    if (in->narrow) { /* a lump takes a pass where it is proposed */
        const uint64_t lumps = (low ? dpf_choice_bound(runs.total, 0) : 0) +
                               (high ? dpf_choice_bound(runs.total, s.runs - 1) : 0);
        if (lumps > runs.total[s.runs - 1] >> SELDOM)
            return DPF_DRAW_NARROW;
    }
    for (;;) {
        int64_t i;
        uint8_t kept = DPF_CHOICE_NO;
        dpf_choice_propose(&runs, words, &i, 1);
        found->cell = cell_of(&in->base, room->start[i], room->end[i], room->mass[i], words);
        const int lump = (low && i == 0) || (high && (size_t)i == s.runs - 1);
        if (!lump)
            dpf_choice_keep(&runs, words, &i, room->distance + i, 0, &kept, 0, 1, &found->word);
        if (lump || kept == DPF_CHOICE_OPEN) {
            found->low = room->low[i];
            found->high = room->high[i];
            found->mass = room->mass[i];
            found->bound = dpf_choice_bound(runs.total, (size_t)i);
            found->scale = runs.lift + runs.shift;
            return lump ? DPF_DRAW_LUMP : DPF_DRAW_OPEN;
        }
        if (kept == DPF_CHOICE_YES || words->short_of) /* a script that is over ends every loop */
            return DPF_DRAW_DONE;
    }
}
