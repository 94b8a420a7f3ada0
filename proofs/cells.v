(* Clamping float64 to public bounds, and rounding them to the cells of a public grid. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Binary Bits.
Open Scope R_scope.

(* A float64, in units of the grid. The grid is a power of two, so this is a number as well. *)
Inductive float64 : Type := NaN | MinusInfinity | PlusInfinity | Finite (x : R).

(* min(max(x, lo), hi) for lo and hi on the cells first and last; a NaN counts as lo. *)
Definition clamped (first last : Z) (x : float64) : R :=
  match x with
  | NaN | MinusInfinity => IZR first
  | PlusInfinity => IZR last
  | Finite x => Rmin (Rmax x (IZR first)) (IZR last)
  end.

(* ZnearestE rounds to the nearest integer, ties to even. *)
Definition cell (first last : Z) (x : float64) : Z := (ZnearestE (clamped first last x) - first)%Z.

(* x <= y; a NaN is below all numbers. *)
Definition at_most (x y : float64) : Prop :=
  match x, y with
  | NaN, _ | MinusInfinity, _ | _, PlusInfinity => True
  | Finite x, Finite y => x <= y
  | _, _ => False
  end.

Lemma clamped_inside : forall first last x, (first <= last)%Z ->
  IZR first <= clamped first last x <= IZR last.
Proof.
  intros first last x L. apply IZR_le in L. destruct x as [| | |x]; simpl; try lra.
  unfold Rmin, Rmax. destruct (Rle_dec x (IZR first)), (Rle_dec _ (IZR last)); lra.
Qed.

(* Of csrc/summaries/quantise.h: u = rint(min(max(x, lo), hi) / grid) - first is a number from 0 to
   `span`, whatever x is. *)
Theorem cell_within_span : forall first span x, (0 <= span)%Z ->
  (0 <= cell first (first + span) x <= span)%Z.
Proof.
  intros first span x S. destruct (clamped_inside first (first + span) x) as (L & H); [lia|].
  apply (Zrnd_le ZnearestE) in L, H. rewrite !Zrnd_IZR in * by apply valid_rnd_N. unfold cell. lia.
Qed.

(* Of csrc/summaries/quantise.h: u never falls as x grows, and a NaN is cell 0. *)
Theorem cell_nondecreasing : forall first span x y, (0 <= span)%Z -> at_most x y ->
  (cell first (first + span) x <= cell first (first + span) y)%Z /\
  cell first (first + span) NaN = 0%Z.
Proof.
  intros first span x y S H. unfold cell.
  split; [|simpl; rewrite Zrnd_IZR; [lia | apply valid_rnd_N]].
  apply Z.sub_le_mono_r, Zrnd_le; [apply valid_rnd_N|].
  pose proof (clamped_inside first (first + span) x).
  pose proof (clamped_inside first (first + span) y).
  destruct x as [| | |x], y as [| | |y]; simpl in *; try easy; try (apply H0 || apply H1; lia);
    try lra.
  apply Rle_min_compat_r, Rle_max_compat_r, H.
Qed.

(* Of dpfast/statistics/totals/api.py: rounding is off by at most half a cell a row. *)
Theorem cell_is_nearest : forall first last x,
  Rabs (clamped first last x - IZR (first + cell first last x)) <= / 2.
Proof.
  intros. unfold cell. replace (first + _)%Z with (ZnearestE (clamped first last x)) by lia.
  apply Znearest_half.
Qed.

(* 10/3 between the cells 2 and 6. *)
Example a_cell : cell 2 6 (Finite (10 / 3)) = 1%Z.
Proof.
  unfold cell, clamped. rewrite Rmax_left, Rmin_left by lra.
  rewrite (Znearest_imp _ _ 3); [easy|]. rewrite Rabs_pos_eq; lra.
Qed.

(* 1.5 2^52, whose sum with a number is rounded to a multiple of 1. *)
Definition magic : Z := 3 * 2 ^ 51.

(* A sum of float64 that does not overflow, rounded to the nearest, ties to even. *)
Definition plus (a b : R) : R := round radix2 (FLT_exp (-1074) 53) ZnearestE (a + b).

Lemma nearest_shifted : forall x n, Z.even n = true -> ZnearestE (x + IZR n) = (ZnearestE x + n)%Z.
Proof.
  intros x n E. unfold ZnearestE, Znearest. assert (F : Zfloor (x + IZR n) = (Zfloor x + n)%Z).
  { apply Zfloor_imp. rewrite !plus_IZR. pose proof (Zfloor_lb x). pose proof (Zfloor_ub x). lra. }
  assert (C : Zceil (x + IZR n) = (Zceil x + n)%Z).
  { apply Zceil_imp. rewrite minus_IZR, !plus_IZR. pose proof (Zceil_ub x).
    pose proof (Zceil_lb x). lra. }
  rewrite F, C, plus_IZR, Z.even_add, E. replace (x + IZR n - (IZR (Zfloor x) + IZR n)) with
    (x - IZR (Zfloor x)) by ring.
  destruct (Rcompare _ _), (Z.even (Zfloor x)); reflexivity.
Qed.

(* Of csrc/summaries/quantise_body.h: the float64 sum of v and 1.5 2^52 is an integer, that constant
   more than the integer nearest to v. *)
Theorem magic_rounds : forall first last x, (- 2 ^ 51 <= first <= last)%Z -> (last <= 2 ^ 51)%Z ->
  plus (clamped first last x) (IZR magic) = IZR (magic + first + cell first last x).
Proof.
  intros first last x L H. destruct (clamped_inside first last x) as (A & B); [lia|].
  assert (IZR (- 2 ^ 51) <= IZR first /\ IZR last <= IZR (2 ^ 51)) as (A' & B') by
    (split; apply IZR_le; lia).
  unfold cell, plus. set (v := clamped first last x) in *.
  replace (magic + first + (_ - first))%Z with (ZnearestE v + magic)%Z by lia.
  rewrite <- nearest_shifted by reflexivity.
  assert (V : IZR (2 ^ 52) <= v + IZR magic <= IZR (2 ^ 53)).
  { replace (2 ^ 52)%Z with (- 2 ^ 51 + magic)%Z by reflexivity.
    replace (2 ^ 53)%Z with (2 ^ 51 + magic)%Z by reflexivity. rewrite !(plus_IZR _ magic). lra. }
  destruct (Req_dec (v + IZR magic) (IZR (2 ^ 53))) as [E|E].
  - rewrite E, Zrnd_IZR by apply valid_rnd_N. apply round_generic; [apply valid_rnd_N|].
    apply (generic_format_bpow radix2 _ 53). unfold FLT_exp. lia.
  - unfold round, F2R, scaled_mantissa, cexp. rewrite (mag_unique radix2 _ 53).
    + simpl. now rewrite !Rmult_1_r.
    + rewrite Rabs_pos_eq; [|apply Rle_trans with (2 := proj1 V), IZR_le; lia].
      change (bpow radix2 (53 - 1)) with (IZR (2 ^ 52)).
      change (bpow radix2 53) with (IZR (2 ^ 53)). lra.
Qed.

(* Of csrc/summaries/quantise_body.h: the last bits of such a float64 are that integer. Taking off
   the bits of 1.5 2^52 and `first` leaves the cell. *)
Theorem magic_bits : forall (f : binary64) first u, is_finite 53 1024 f = true ->
  B2R 53 1024 f = IZR (magic + first + u) -> (- 2 ^ 51 <= first + u < 2 ^ 51)%Z ->
  (bits_of_b64 f - (0x4338000000000000 + first) = u)%Z.
Proof.
  intros f first u F V B. set (m := (magic + first + u)%Z) in *.
  assert (M : (2 ^ 52 <= m < 2 ^ 53)%Z) by (unfold m, magic; lia).
  destruct f as [s|s|s pl|s mx ex Hb]; try easy.
  - simpl in V. apply eq_IZR in V. lia.
  - assert (C : Float radix2 (cond_Zopp s (Zpos mx)) ex = Float radix2 m 0).
    { apply (canonical_unique radix2 (FLT_exp (-1074) 53)).
      - now apply (canonical_canonical_mantissa 53 1024), (andb_prop _ _ Hb).
      - unfold canonical. simpl Fexp. unfold cexp. rewrite (mag_unique radix2 _ 53); [easy|].
        unfold F2R. simpl Fnum. simpl Fexp. rewrite Rmult_1_r, Rabs_pos_eq by (apply IZR_le; lia).
        change (bpow radix2 (53 - 1)) with (IZR (2 ^ 52)).
        change (bpow radix2 53) with (IZR (2 ^ 53)). split; [apply IZR_le | apply IZR_lt]; lia.
      - simpl in V. rewrite V. unfold F2R. simpl. ring. }
    injection C as C1 C2. destruct s; [simpl in C1; lia|]. simpl in C1. subst ex. 
    unfold bits_of_b64, bits_of_binary_float. rewrite C1.
    destruct (Z.leb_spec 0 (m - 2 ^ 52)); [|lia]. unfold join_bits. set (k := Z.shiftl _ 52).
    assert (K : k = (1075 * 2 ^ 52)%Z) by reflexivity. rewrite K. unfold m, magic. lia.
Qed.
