/* Numbers of at least 0, far beyond the range of a float64: m 2^(512 e), with 2^-256 <= m < 2^256,
 * or m = 0.
 *
 * A product or sum of such numbers has one relative rounding error, and never underflows. If a sum
 * ignores its smaller term, this is below 2^-512 of the sum. dpf_wide2 has a second word, so about
 * 102 bits. After a billion products and sums in dpf_wide2, the error is that of the final
 * rounding.
 */
#ifndef DPF_WIDE_H
#define DPF_WIDE_H

#include <stdint.h>

#define DPF_WIDE_BITS 512

typedef struct {
    double m;
    int64_t e;
} dpf_wide;

typedef struct {
    double h, l; /* |l| <= 2^-53 h */
    int64_t e;
} dpf_wide2;

static inline dpf_wide dpf_wide_normal(double m, int64_t e) {
    if (m == 0) return (dpf_wide){0, 0};
    if (m < 0x1p-256) return (dpf_wide){m * 0x1p512, e - 1};
    if (m >= 0x1p256) return (dpf_wide){m * 0x1p-512, e + 1};
    return (dpf_wide){m, e};
}

static inline dpf_wide dpf_wide_mul(dpf_wide a, dpf_wide b) {
    return dpf_wide_normal(a.m * b.m, a.e + b.e);
}

static inline dpf_wide dpf_wide_add(dpf_wide a, dpf_wide b) {
    if (a.m == 0) return b;
    if (b.m == 0) return a;
    if (a.e < b.e) {
        dpf_wide t = a;
        a = b;
        b = t;
    }
    if (a.e - b.e > 1) return a;
    return dpf_wide_normal(a.m + (a.e == b.e ? b.m : b.m * 0x1p-512), a.e);
}

/* Whether a 2^shift <= b, for -512 <= shift <= 512. */
static inline int dpf_wide_at_most(dpf_wide a, double two_to_shift, dpf_wide b) {
    if (a.m == 0) return 1;
    if (b.m == 0) return 0;
    dpf_wide x = dpf_wide_normal(a.m * two_to_shift, a.e);
    return x.e != b.e ? x.e < b.e : x.m <= b.m;
}

static inline dpf_wide2 dpf_wide2_normal(double s, double t, int64_t e) {
    double h = s + t, l = t - (h - s); /* |t| <= |s| */
    if (h == 0) return (dpf_wide2){0, 0, 0};
    if (h < 0x1p-256) return (dpf_wide2){h * 0x1p512, l * 0x1p512, e - 1};
    if (h >= 0x1p256) return (dpf_wide2){h * 0x1p-512, l * 0x1p-512, e + 1};
    return (dpf_wide2){h, l, e};
}

static inline dpf_wide2 dpf_wide2_mul(dpf_wide2 a, dpf_wide2 b) {
    /* Dekker's product: p + r = a.h b.h exactly. */
    double p = a.h * b.h;
    double s = 134217729.0 * a.h, ah = s - (s - a.h), al = a.h - ah;
    double t = 134217729.0 * b.h, bh = t - (t - b.h), bl = b.h - bh;
    double r = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
    r += a.h * b.l + a.l * b.h;
    return dpf_wide2_normal(p, r, a.e + b.e);
}

static inline dpf_wide2 dpf_wide2_add(dpf_wide2 a, dpf_wide2 b) {
    if (a.h == 0) return b;
    if (b.h == 0) return a;
    if (a.e < b.e) {
        dpf_wide2 t = a;
        a = b;
        b = t;
    }
    if (a.e - b.e > 1) return a;
    double scale = a.e == b.e ? 1.0 : 0x1p-512, y = b.h * scale;
    double s = a.h + y, v = s - a.h; /* Knuth's sum: s + r = a.h + y exactly */
    double r = (a.h - (s - v)) + (y - v);
    return dpf_wide2_normal(s, r + (a.l + b.l * scale), a.e);
}

static inline dpf_wide2 dpf_wide_to2(dpf_wide a) { return (dpf_wide2){a.m, 0, a.e}; }
static inline dpf_wide dpf_wide2_to1(dpf_wide2 a) { return (dpf_wide){a.h, a.e}; }

#endif
