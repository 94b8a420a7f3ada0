#include "statistics/draw.h"

#define DIGIT 12
#define DIGITS 4

static inline int64_t upto(const dpf_draw_base *base, int64_t cell)
{
    uint64_t left = (uint64_t)(cell + base->shift);
    int64_t total = 0;
    for (int digit = 0; digit < DIGITS; digit++, left >>= DIGIT)
        total += base->worth[((size_t)digit << DIGIT) + (left & ((1u << DIGIT) - 1))];
    return total;
}

static inline int64_t weight(const dpf_draw_base *base, int64_t start, int64_t end)
{
    return base->worth ? upto(base, end) - upto(base, start - 1) : end - start + 1;
}

/* floor(x / 2^k) */
static inline int64_t halved(int64_t x, int k)
{
    return x < 0 ? ~(int64_t)((uint64_t)~x >> k) : x >> k;
}

/* A cell of start .. end, whose weights add up to `mass`, in proportion to its weight. */
static int64_t cell_of(const dpf_draw_base *base, int64_t start, int64_t end, int64_t mass,
                       dpf_words *words)
{
    if (start == end)
        return start;
    int64_t place = (int64_t)dpf_words_below(words, (uint64_t)mass);
    if (!base->worth)
        return start + place;
    for (int k = 0; k <= base->levels; k++) {
        const int64_t from = halved(start - 1, k), one = (int64_t)1 << k;
        const int64_t here = (halved(end, k) - from) * one;
        if (place < here)
            return (from + 1 + (place >> k)) * one;
        place -= here;
    }
    return end; /* not reached: the weights add up */
}

typedef struct {
    const dpf_draw *in;
    const dpf_draw_room *room;
    size_t runs;
} survey;

/* The cells start .. end, as far as they are asked for. Returns whether any are. */
static inline int run(survey *s, int64_t start, int64_t end, int64_t less, int64_t leq)
{
    if (start < s->in->first)
        start = s->in->first;
    if (end > s->in->last)
        end = s->in->last;
    if (start > end)
        return 0;
    const size_t i = s->runs++;
    s->room->start[i] = start;
    s->room->end[i] = end;
    s->room->less[i] = less;
    s->room->leq[i] = leq;
    s->room->mass[i] = weight(&s->in->base, start, end);
    return 1;
}

int dpf_draw_cell(const dpf_draw *in, const int64_t *rows, size_t w, dpf_words *words,
                  const dpf_draw_room *room, dpf_draw_found *found)
{
    survey s = {in, room, 0};
    int low = 0, high = 0;
    int64_t next = in->first; /* the first cell that is in no run yet */
    /* By turns the gap before a cell that rows are on, and that cell; at last the gap after all. */
    for (size_t i = 0, end; i < w; i = end) {
        const int64_t cell = rows[i], rank = in->before + (int64_t)i;
        for (end = i + 1; end < w && rows[end] == cell;)
            end++;
        if (end < w && rows[end] < cell)
            return -1;
        const int gap = run(&s, i ? next : in->first, cell - 1, rank, rank);
        if (i == 0)
            low = gap && in->before > 0;
        run(&s, cell, cell, rank, in->before + (int64_t)end);
        next = cell + 1;
    }
    const int64_t rank = in->before + (int64_t)w;
    high = run(&s, next, in->last, rank, rank) && rank < in->n;
    if (s.runs == 0)
        return -1;
    /* Where all runs are on one side of the target, their distances are those from the nearest. */
    int64_t whole = in->whole;
    double rest = in->rest, more = in->more;
    found->bottom = room->less[0];
    found->top = room->leq[s.runs - 1];
    if (whole < found->bottom)
        whole = found->bottom, rest = 0, more = 1;
    else if (whole >= found->top)
        whole = found->top, rest = 0, more = 1;
    for (size_t i = 0; i < s.runs; i++) /* numbers of one sign are added: a relative 2^-51 */
        room->distance[i] = room->leq[i] <= whole   ? (double)(whole - room->leq[i]) + rest
                            : room->less[i] > whole ? (double)(room->less[i] - whole - 1) + more
                                                    : 0;
    dpf_choice_runs runs = {room->distance, room->mass, room->total, s.runs, in->c, 0, 0, 0};
    if (dpf_choice_bounds(&runs))
        return -1;
    for (;;) {
        int64_t i;
        uint8_t kept = DPF_CHOICE_NO;
        dpf_choice_propose(&runs, words, &i, 1);
        found->cell = cell_of(&in->base, room->start[i], room->end[i], room->mass[i], words);
        const int lump = (low && i == 0) || (high && (size_t)i == s.runs - 1);
        if (!lump)
            dpf_choice_keep(&runs, words, &i, room->distance + i, 0, &kept, 0, 1, &found->word);
        if (lump || kept == DPF_CHOICE_OPEN) {
            found->less = room->less[i];
            found->leq = room->leq[i];
            found->mass = room->mass[i];
            found->bound = dpf_choice_bound(runs.total, (size_t)i);
            found->scale = runs.lift + runs.shift;
            return lump ? DPF_DRAW_LUMP : DPF_DRAW_OPEN;
        }
        if (kept == DPF_CHOICE_YES || words->short_of) /* a script that is over ends every loop */
            return DPF_DRAW_DONE;
    }
}
