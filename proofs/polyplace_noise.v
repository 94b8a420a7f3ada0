(* PolyPlace noise for smooth sensitivity, the default for epsilon below 4. *)

From Coq Require Import Reals Lra FunctionalExtensionality.
From Dpfast Require Import distributions(exp_monotone) smooth_noise.
Open Scope R_scope.

(* The density for shape a: C (1 - |z|)^(a - 1) up to |z| = 1/a, and C_t (1 + |z|)^-(a + 1) beyond,
   with C_t = C (1 - 1/a)^(a - 1) (1 + 1/a)^(a + 1). C makes its integral 1. *)
Definition polyplace (C a z : R) : R :=
  if Rle_dec (Rabs z) (1 / a) then C * Rpower (1 - Rabs z) (a - 1)
  else C * Rpower (1 - 1 / a) (a - 1) * Rpower (1 + 1 / a) (a + 1) *
    Rpower (1 + Rabs z) (- (a + 1)).

(* Minus its log is ln C + phi, with this value of phi at 1/a. *)
Definition at_joint (a : R) : R := - ((a - 1) * ln (1 - 1 / a)).

Definition polyplace_phi (a z : R) : R :=
  if Rle_dec (Rabs z) (1 / a) then - ((a - 1) * ln (1 - Rabs z))
  else at_joint a + (a + 1) * (ln (1 + Rabs z) - ln (1 + 1 / a)).

(* phi^-1(cost + phi y) for y <= 1/a, as polyplace.py computes it. *)
Definition image (a cost y : R) : R :=
  let total := cost - (a - 1) * ln (1 - y) in
  if Rle_dec total (at_joint a) then 1 - exp (- (total / (a - 1)))
  else (1 + 1 / a) * exp ((total - at_joint a) / (a + 1)) - 1.

(* The least y with its image past the joint, and the stationary point there. *)
Definition first_past (a cost : R) : R :=
  if Rlt_dec cost (at_joint a) then 1 - exp ((cost - at_joint a) / (a - 1)) else 0.

Definition still (a cost log_k : R) : R :=
  let q := (a - 1) / (a + 1) in
  let log_m := ln (1 + 1 / a) + (cost - at_joint a) / (a + 1) in
  1 - exp ((log_m + ln q - log_k) / (q + 1)).

(* The gap in closed form: the least of four candidates. *)
Definition polyplace_gap (a cost log_k : R) : R :=
  let first := first_past a cost in
  let middle := Rmin (Rmax (still a cost log_k) first) (1 / a) in
  let value y := image a cost y - exp log_k * y in
  if Rlt_dec cost ((a + 1) * log_k) then 0
  else Rmin (Rmin (value 0) (value first)) (Rmin (value middle) (value (1 / a))).

Lemma ln_ratio : forall x y, 0 < x -> 0 < y -> ln x - ln y <= (x - y) / y.
Proof.
  intros x y X Y. assert (E := exp_ineq1_le (ln x + - ln y)).
  rewrite exp_plus, exp_Ropp, !exp_ln in E by assumption.
  replace ((x - y) / y) with (x * / y - 1) by (field; lra). lra.
Qed.

Section Shape.
Variable a : R.
Hypothesis shape : 1 < a.
Let j := 1 / a.
Let phi := polyplace_phi a.
Let p := at_joint a.

Lemma joint_inside : 0 < j < 1.
Proof. unfold j. assert (I := Rinv_lt_contravar 1 a). split; [apply Rdiv_lt_0_compat|]; lra. Qed.

Lemma center : forall r, 0 <= r <= j -> phi r = - ((a - 1) * ln (1 - r)).
Proof.
  intros r H. unfold phi, polyplace_phi. rewrite Rabs_pos_eq by lra. fold j. destruct Rle_dec; lra.
Qed.

Lemma tail : forall r, j <= r -> phi r = p + (a + 1) * (ln (1 + r) - ln (1 + j)).
Proof.
  intros r H. assert (J := joint_inside). unfold phi, polyplace_phi. rewrite Rabs_pos_eq by lra.
  fold j p. destruct Rle_dec; [|reflexivity]. replace r with j by lra. unfold p, at_joint.
  fold j. ring.
Qed.

Lemma grows : forall x y, 0 <= x <= y -> phi x <= phi y.
Proof.
  intros x y H. assert (J := joint_inside).
  assert (C : forall x y, 0 <= x <= y -> y <= j -> phi x <= phi y).
  { intros u v U V. rewrite !center by lra. assert (L := ln_monotone (1 - v) (1 - u)). nra. }
  assert (T : forall x y, j <= x <= y -> phi x <= phi y).
  { intros u v U. rewrite !tail by lra. assert (L := ln_monotone (1 + u) (1 + v)). nra. }
  destruct (Rle_or_lt y j); [apply C; lra|]. destruct (Rle_or_lt j x); [apply T; lra|].
  apply Rle_trans with (phi j); [apply C | apply T]; lra.
Qed.

(* A line that supports phi (e^t) at t = ln r; its slope r phi'(r) grows. *)
Lemma supported : forall r, 0 < r -> exists slope, forall x, 0 < x ->
  phi r + slope * (ln x - ln r) <= phi x.
Proof.
  assert (J := joint_inside).
  set (c := fun r => (a - 1) * (r / (1 - r))). set (t := fun r => (a + 1) * (r / (1 + r))).
  assert (C : forall r x, 0 < r <= j -> 0 < x <= j -> phi r + c r * (ln x - ln r) <= phi x).
  { intros r x R X. rewrite !center by lra. unfold c.
    assert (A := ln_ratio (1 - x) (1 - r) ltac:(lra) ltac:(lra)).
    assert (B := ln_ratio x r ltac:(lra) ltac:(lra)).
    apply Rmult_le_compat_l with (r := r / (1 - r)) in B; [|apply Rlt_le, Rdiv_lt_0_compat; lra].
    replace (r / (1 - r) * ((x - r) / r)) with (- ((1 - x - (1 - r)) / (1 - r))) in B
      by (field; lra). nra. }
  assert (T : forall r x, j <= r -> j <= x -> phi r + t r * (ln x - ln r) <= phi x).
  { intros r x R X. rewrite !tail by lra. unfold t.
    assert (A := ln_ratio (1 + r) (1 + x) ltac:(lra) ltac:(lra)).
    assert (B := ln_ratio (x * (1 + r)) (r * (1 + x)) ltac:(nra) ltac:(nra)).
    rewrite !ln_mult in B by lra. apply Rmult_le_compat_l with (r := r) in B; [|lra].
    replace (r * ((x * (1 + r) - r * (1 + x)) / (r * (1 + x))))
      with (- ((1 + r - (1 + x)) / (1 + x))) in B by (field; lra).
    assert (D : r / (1 + r) * (ln x - ln r) <= ln (1 + x) - ln (1 + r));
      [apply Rmult_le_reg_r with (1 + r); [|field_simplify] |]; nra. }
  assert (Ec : c j = 1) by (unfold c, j; field; lra).
  assert (Et : t j = 1) by (unfold t, j; field; lra).
  assert (aj : a * j = 1) by (unfold j; field; lra).
  intros r R. destruct (Rle_or_lt r j) as [Q | Q].
  - exists (c r). intros x X. destruct (Rle_or_lt x j); [apply C; lra|].
    assert (A := C r j ltac:(lra) ltac:(lra)). assert (B := T j x ltac:(lra) ltac:(lra)).
    assert (L := ln_monotone j x ltac:(lra) ltac:(lra)). rewrite Et in B.
    assert (c r <= 1); [apply Rmult_le_reg_r with (1 - r); unfold c; [|field_simplify] |]; nra.
  - exists (t r). intros x X. destruct (Rle_or_lt j x); [apply T; lra|].
    assert (A := T r j ltac:(lra) ltac:(lra)). assert (B := C j x ltac:(lra) ltac:(lra)).
    assert (L := ln_monotone x j ltac:(lra) ltac:(lra)). rewrite Ec in B.
    assert (1 <= t r); [apply Rmult_le_reg_r with (1 + r); unfold t; [|field_simplify] |]; nra.
Qed.

Lemma phi_log_convex : log_convex phi.
Proof.
  repeat split; [intros z; unfold phi, polyplace_phi; now rewrite Rabs_Rabsolu | exact grows|].
  intros t x y Ht. set (m := (1 - t) * x + t * y).
  destruct (supported (exp m) (exp_pos m)) as [slope H].
  assert (A := H (exp x) (exp_pos x)). assert (B := H (exp y) (exp_pos y)). rewrite !ln_exp in A, B.
  assert (E : (1 - t) * (slope * (x - m)) + t * (slope * (y - m)) = 0) by (unfold m; ring). nra.
Qed.

(* The image below the joint, and past it. *)
Lemma image_center : forall cost y, y < 1 -> cost - (a - 1) * ln (1 - y) <= p ->
  image a cost y = 1 - (1 - y) * exp (- (cost / (a - 1))).
Proof.
  intros cost y Y H. unfold image. fold p. destruct Rle_dec; [|lra]. f_equal.
  rewrite <- (exp_ln (1 - y)) at 2 by lra. rewrite exp_times. f_equal. field; lra.
Qed.

Lemma image_tail : forall cost y, y < 1 -> p <= cost - (a - 1) * ln (1 - y) ->
  image a cost y = exp (ln (1 + j) + (cost - p) / (a + 1) - (a - 1) / (a + 1) * ln (1 - y)) - 1.
Proof.
  intros cost y Y H. assert (J := joint_inside). unfold image. fold j p.
  set (total := cost - (a - 1) * ln (1 - y)) in *.
  replace (_ + _ - _) with (ln (1 + j) + (total - p) / (a + 1)) by (unfold total; field; lra).
  rewrite exp_plus, exp_ln by lra. destruct Rle_dec; [|reflexivity]. replace total with p by lra.
  replace ((p - p) / (a + 1)) with 0 by (field; lra).
  replace (- (p / (a - 1))) with (ln (1 - j)) by (unfold p, at_joint; fold j; field; lra).
  rewrite exp_0, exp_ln; lra.
Qed.

Lemma image_reached : forall cost x y, 0 <= cost -> 0 <= y <= j -> 0 <= x <= image a cost y ->
  phi x <= cost + phi y.
Proof.
  intros cost x y Hc Hy Hx. assert (J := joint_inside). apply Rle_trans with (1 := grows _ _ Hx).
  rewrite (center y Hy). apply Req_le. revert Hx. unfold image. fold j p.
  set (total := cost - (a - 1) * ln (1 - y)). intros Hx.
  assert (Ej : p = (a - 1) * - ln (1 - j)) by (unfold p, at_joint; fold j; ring).
  destruct Rle_dec as [Q | Q].
  - assert (ln (1 - j) <= - (total / (a - 1))).
    { apply Rmult_le_reg_r with (a - 1); [lra|]. field_simplify; lra. }
    assert (E := exp_monotone _ _ H). rewrite exp_ln in E by lra. rewrite center by lra.
    replace (1 - (1 - _)) with (exp (- (total / (a - 1)))) by ring. rewrite ln_exp.
    unfold total; field; lra.
  - assert (E := exp_ineq1_le ((total - p) / (a + 1))).
    assert (0 <= (total - p) / (a + 1)) by (apply Rlt_le, Rdiv_lt_0_compat; lra).
    rewrite tail by nra. replace (1 + (_ - 1)) with ((1 + j) * exp ((total - p) / (a + 1))) by ring.
    rewrite ln_mult, ln_exp by (apply exp_pos || lra). unfold total; field; lra.
Qed.

(* Beyond the joint the image is linear, with the slope e^(cost / (a + 1)). *)
Lemma tail_reached : forall cost log_k s y, 0 <= cost -> 0 <= s -> (a + 1) * log_k <= cost ->
  s + exp log_k * j <= image a cost j -> j <= y -> phi (s + exp log_k * y) <= cost + phi y.
Proof.
  intros cost log_k s y Hc Hs Hk H Hy. assert (J := joint_inside). assert (P := exp_pos log_k).
  set (x := s + exp log_k * y) in *. assert (Y := grows j y ltac:(lra)).
  assert (0 <= exp log_k * y) by nra.
  destruct (Rle_or_lt x j); [assert (X := grows x j ltac:(unfold x in *; lra)); lra|].
  set (e := cost / (a + 1)).
  assert (M : exp log_k <= exp e) by (apply exp_monotone; unfold e; clear_quotient (a + 1)).
  rewrite image_tail in H by (unfold p, at_joint; fold j; lra).
  replace (_ + _ - _) with (ln (1 + j) + e) in H by (unfold e, p, at_joint; fold j; field; lra).
  rewrite exp_plus, exp_ln in H by lra.
  assert (L : ln (1 + x) <= ln ((1 + y) * exp e)) by (apply ln_monotone; unfold x in *; nra).
  rewrite ln_mult, ln_exp in L by (apply exp_pos || lra).
  apply Rmult_le_compat_l with (r := a + 1) in L; [|lra]. rewrite !tail by lra.
  replace ((a + 1) * (ln (1 + y) + e)) with ((a + 1) * ln (1 + y) + cost) in L
    by (unfold e; field; lra). lra.
Qed.

Lemma past : forall cost u, 0 <= u < 1 ->
  (cost - (a - 1) * ln (1 - u) <= p -> u <= first_past a cost) /\
  (p < cost - (a - 1) * ln (1 - u) -> first_past a cost <= u) /\
  (first_past a cost <= u -> p <= cost - (a - 1) * ln (1 - u)) /\ 0 <= first_past a cost.
Proof.
  intros cost u U. unfold first_past. fold p. set (e := (cost - p) / (a - 1)).
  assert (E : cost = p + (a - 1) * e) by (unfold e; field; lra).
  assert (L := ln_ratio (1 - u) 1 ltac:(lra) ltac:(lra)).
  rewrite ln_1 in L. replace ((1 - u - 1) / 1) with (- u) in L by field.
  assert (A : e <= ln (1 - u) -> exp e <= 1 - u)
    by (intros H; apply exp_monotone in H; rewrite exp_ln in H; lra).
  assert (B : ln (1 - u) <= e -> 1 - u <= exp e)
    by (intros H; apply exp_monotone in H; rewrite exp_ln in H; lra).
  assert (C : 1 - u <= exp e -> ln (1 - u) <= e)
    by (intros H; apply ln_monotone in H; rewrite ?ln_exp in H; lra).
  destruct Rlt_dec as [N | N]; [|repeat split; nra].
  assert (e <= 0) by nra. assert (E1 := exp_monotone e 0 H). rewrite exp_0 in E1.
  repeat split; try intros H'; try lra.
  - assert (exp e <= 1 - u); [apply A, Rmult_le_reg_l with (a - 1); lra | lra].
  - assert (1 - u <= exp e); [apply B, Rmult_le_reg_l with (a - 1); lra | lra].
  - assert (ln (1 - u) <= e); [apply C; lra | nra].
Qed.

(* The gap's value is the least of image y - k y: linear below `first`, convex beyond. *)
Lemma center_reached : forall cost log_k s y, 0 <= y <= j ->
  0 < s <= polyplace_gap a cost log_k ->
  (a + 1) * log_k <= cost /\ s + exp log_k * y <= image a cost y.
Proof.
  intros cost log_k s y Hy [S0 H]. assert (J := joint_inside). unfold polyplace_gap in H.
  fold j in H. set (first := first_past a cost) in *. set (w := still a cost log_k) in *.
  set (middle := Rmin (Rmax w first) j) in *. destruct Rlt_dec as [N | N]; [lra|].
  split; [lra|]. set (k := exp log_k) in *.
  assert (H1 := Rle_trans _ _ _ H (Rmin_l _ _)). assert (H2 := Rle_trans _ _ _ H (Rmin_r _ _)).
  assert (v0 := Rle_trans _ _ _ H1 (Rmin_l _ _)). assert (v1 := Rle_trans _ _ _ H1 (Rmin_r _ _)).
  assert (v2 := Rle_trans _ _ _ H2 (Rmin_l _ _)). clear H H1 H2 N.
  destruct (past cost y ltac:(lra)) as (low & high & _ & F0). fold first in low, high, F0.
  destruct (Rle_or_lt (cost - (a - 1) * ln (1 - y)) p) as [L | L].
  - specialize (low L). rewrite image_center by lra.
    assert (Ly := ln_monotone (1 - y) 1 ltac:(lra) ltac:(lra)). rewrite ln_1 in Ly.
    rewrite image_center in v0 by (rewrite ?Rminus_0_r, ?ln_1; nra).
    destruct (Req_dec y 0) as [-> | Y]; [lra|]. unfold first, first_past in low, v1.
    fold p in low, v1. destruct Rlt_dec; [|lra].
    set (e := (cost - p) / (a - 1)) in *. assert (P := exp_pos e).
    rewrite image_center in v1; [|lra|].
    + set (f := 1 - exp e) in *. apply Rmult_le_reg_l with f; nra.
    + replace (1 - (1 - exp e)) with (exp e) by ring. rewrite ln_exp. right. unfold e; field; lra.
  - specialize (high L).
    assert (M : first <= middle <= j) by (unfold middle, Rmin, Rmax; repeat destruct Rle_dec; lra).
    destruct (past cost middle ltac:(lra)) as (_ & _ & T & _). fold first in T.
    rewrite image_tail in v2 |- * by lra. set (q := (a - 1) / (a + 1)) in *.
    set (m := ln (1 + j) + (cost - p) / (a + 1)) in *.
    assert (q0 : 0 < q) by (unfold q; apply Rdiv_lt_0_compat; lra).
    set (D := exp (m - q * ln (1 - middle))) in *. assert (Dp : 0 < D) by apply exp_pos.
    set (slope := fun u => exp (m - (q + 1) * ln (1 - u))).
    assert (tangent : D + q * slope middle * (y - middle) <= exp (m - q * ln (1 - y))).
    { replace (slope middle) with (D * / (1 - middle)).
      2: { rewrite <- (exp_ln (1 - middle)) by lra. unfold D, slope. rewrite <- exp_Ropp, exp_times.
        f_equal. ring. }
      assert (B := ln_ratio (1 - y) (1 - middle) ltac:(lra) ltac:(lra)).
      assert (E := exp_ineq1_le (q * (ln (1 - middle) - ln (1 - y)))).
      replace (m - q * ln (1 - y)) with (m - q * ln (1 - middle) +
        q * (ln (1 - middle) - ln (1 - y))) by ring. rewrite exp_plus. fold D.
      replace ((1 - y - (1 - middle)) / (1 - middle)) with (- (/ (1 - middle) * (y - middle))) in B
        by (field; lra).
      assert (q * (/ (1 - middle) * (y - middle)) <= q * (ln (1 - middle) - ln (1 - y))) by nra.
      nra. }
    assert (W : k * (y - middle) <= q * slope middle * (y - middle)); [|lra].
    assert (Ew : 1 - w = exp ((m + ln q - log_k) / (q + 1)))
      by (unfold w, still, m, q, p, j; ring).
    assert (Pw : 0 < 1 - w) by (rewrite Ew; apply exp_pos). assert (K : k = q * slope w).
    { unfold k, slope. rewrite <- (exp_ln q) at 1 by lra. rewrite exp_times, Ew, ln_exp. f_equal.
      field; lra. }
    assert (slope_grows : forall u v, u <= v -> v < 1 -> slope u <= slope v).
    { intros u v U V. apply exp_monotone. assert (G := ln_monotone (1 - v) (1 - u)). nra. }
    destruct (Rle_or_lt w middle) as [O | O].
    + assert (w = middle \/ middle <= y) as [Z | Z]
        by (unfold middle, Rmin, Rmax in *; repeat destruct Rle_dec; lra).
      * rewrite K, Z. lra.
      * assert (G := slope_grows w middle O ltac:(lra)).
        apply Rmult_le_compat_r; [lra|]. rewrite K. apply Rmult_le_compat_l; lra.
    + assert (middle = j) by (unfold middle, Rmin, Rmax in *; repeat destruct Rle_dec; lra).
      assert (G := slope_grows middle w ltac:(lra) ltac:(lra)).
      assert (T' : q * slope middle <= k) by (rewrite K; apply Rmult_le_compat_l; lra).
      clear - T' Hy H. nra.
Qed.

Lemma polyplace_within : forall cost log_k, 0 <= cost -> 0 < polyplace_gap a cost log_k ->
  within_gap phi cost (exp log_k) (polyplace_gap a cost log_k).
Proof.
  intros cost log_k Hc Hs y Hy. assert (J := joint_inside). assert (P := exp_pos log_k).
  set (s := polyplace_gap a cost log_k) in *.
  assert (C := fun y Y => center_reached cost log_k s y Y (conj Hs (Rle_refl s))).
  destruct (Rle_or_lt y j).
  - apply image_reached; [assumption | lra|]. destruct (C y ltac:(lra)). split; nra.
  - destruct (C j ltac:(lra)). apply tail_reached; lra.
Qed.
End Shape.

(* Of dpfast/noise/smooth/polyplace.py: PolyPlace noise of shape a is admissible with the exact
   alpha, in closed form on each interval. *)
Theorem polyplace_noise_is_admissible : forall C a alpha beta epsilon,
  0 < C -> 1 < a -> 0 < beta <= epsilon / a ->
  0 < alpha <= largest_shift (polyplace_gap a) epsilon beta ->
  admissible (polyplace C a) alpha beta epsilon.
Proof.
  intros C a alpha beta epsilon HC Ha [Hb He] Hs. assert (J := joint_inside a Ha).
  apply Rmult_le_compat_l with (r := a) in He; [|lra].
  replace (a * (epsilon / a)) with epsilon in He by (field; lra).
  replace (polyplace C a) with (fun z => C * exp (- polyplace_phi a z)).
  2: { apply functional_extensionality. intros z.
    unfold polyplace, polyplace_phi, at_joint, Rpower. destruct Rle_dec.
    - now rewrite Ropp_involutive.
    - rewrite !Rmult_assoc, !exp_times. do 2 f_equal. ring. }
  apply largest_shift_admissible with (polyplace_gap a); try lra.
  - now apply phi_log_convex.
  - intros cost log_k K G. apply polyplace_within; try assumption.
    destruct K as [[-> ->] | [[-> ->] | [-> ->]]]; nra.
Qed.

(* The default for epsilon = 4 and shape 2 admits some shift. *)
Example polyplace_shift_exists : 0 < largest_shift (polyplace_gap 2) 4 (1 / 2).
Proof.
  assert (E : exp (1 / 2) < 2).
  { assert (X := exp_le_3). replace 1 with (1 / 2 + 1 / 2) in X by field.
    rewrite exp_plus in X. nra. }
  assert (L : ln 2 <= 1) by (rewrite <- (ln_exp 1); apply ln_monotone; [lra | apply exp_ineq1_le]).
  assert (J : at_joint 2 = ln 2).
  { unfold at_joint. replace (1 - 1 / 2) with (/ 2) by field. rewrite ln_Rinv; lra. }
  assert (V : forall cost log_k y, 7 / 2 <= cost -> log_k <= 1 / 2 -> 0 <= y <= 1 / 2 ->
    0 < image 2 cost y - exp log_k * y).
  { intros cost log_k y Hc Hk Hy. assert (K := exp_monotone _ _ Hk). assert (P := exp_pos log_k).
    assert (Ly := ln_monotone (1 - y) 1 ltac:(lra) ltac:(lra)). rewrite ln_1 in Ly.
    unfold image. destruct Rle_dec; [lra|].
    assert (X := exp_ineq1_le ((cost - (2 - 1) * ln (1 - y) - at_joint 2) / (2 + 1))). nra. }
  assert (G : forall cost log_k, 7 / 2 <= cost -> log_k <= 1 / 2 -> 0 < polyplace_gap 2 cost log_k).
  { intros cost log_k Hc Hk. unfold polyplace_gap, first_past. destruct Rlt_dec; [lra|].
    destruct Rlt_dec; [lra|].
    repeat apply Rmin_glb_lt; apply V; try lra; unfold Rmin, Rmax; repeat destruct Rle_dec; lra. }
  unfold largest_shift. repeat apply Rmin_glb_lt; try (apply Rmult_lt_0_compat; [apply exp_pos|]);
    apply G; lra.
Qed.
