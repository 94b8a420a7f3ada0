(* The release of a quantile with noise scaled to its smooth sensitivity, roundings included. *)

From Coq Require Import Reals Lra List.
From Dpfast Require order_statistics smooth_replace smooth_add_remove.
From Dpfast Require Import distributions(exp_monotone) smooth_noise.
Open Scope R_scope.

(* What is computed: a bound of the smooth sensitivity that is too large by a factor of 1 + 2^-41 at
   most and not below a public floor, and its quotient by alpha, with a float64's relative error. *)
Definition computed_scale (alpha floor smooth scale : R) : Prop :=
  exists bound, Rmax smooth floor <= bound <= (1 + / 2 ^ 41) * Rmax smooth floor /\
  Rabs (scale - bound / alpha) <= / 2 ^ 53 * (bound / alpha).

Example exact_scale : computed_scale 2 1 3 (3 / 2).
Proof.
  exists 3. rewrite Rmax_left by lra. replace (3 / 2 - 3 / 2) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

(* Of dpfast/noise/smooth/calibration.py: noise that is admissible with (alpha, beta) may be scaled
   to the computed bound of a smooth sensitivity S if its alpha is smaller by 2^-39, relatively, and
   the beta of S by 2^-40. *)
Theorem calibrated_release_is_private : forall (T : Type) (neighbors : T -> T -> Prop) f S h
    floor alpha beta alpha' beta' epsilon scale,
  (forall x y, neighbors x y -> neighbors y x) ->
  smooth_add_remove.smooth_bound neighbors f beta' S -> 0 <= beta' ->
  0 < floor -> 0 < alpha' <= (1 - / 2 ^ 39) * alpha -> beta' + / 2 ^ 40 <= beta ->
  (forall x y, neighbors x y -> computed_scale alpha' floor (S x) (scale x)) ->
  admissible h alpha beta epsilon -> pure neighbors epsilon (fun x => release h (f x) (scale x)).
Proof.
  intros T neighbors f S h floor alpha beta alpha' beta' epsilon scale sym smooth Hb' Hf Ha Hb
    computed H.
  set (u := / 2 ^ 53). set (eta := / 2 ^ 41). set (zeta := / 2 ^ 40). set (xi := / 2 ^ 39).
  assert (N : 0 < u /\ 0 < eta /\ 0 < zeta /\ 1 - xi <= 1 - u /\ 0 < 1 - xi /\
    (1 + u) * (1 + eta) <= (1 - u) * (1 + zeta)) by (unfold u, eta, zeta, xi; lra).
  fold xi in Ha. fold zeta in Hb. unfold computed_scale in computed. fold u eta in computed.
  clearbody u eta zeta xi. destruct N as (N1 & N2 & N3 & N4 & N5 & N6).
  set (M := fun x => Rmax (S x) floor). set (kappa := alpha / alpha').
  assert (A : 0 < alpha) by nra. assert (kappa1 : 1 <= (1 - xi) * kappa)
    by (unfold kappa; apply Rmult_le_reg_r with alpha'; [lra|]; field_simplify; lra).
  assert (M0 : forall x, 0 < M x) by (intros x; assert (R := Rmax_r (S x) floor); unfold M; lra).
  assert (B : forall x y, neighbors x y -> (1 - u) * (kappa * M x) <= alpha * scale x <=
    (1 + u) * (1 + eta) * (kappa * M x)).
  { intros x y N. destruct (computed x y N) as (bound & Hm & Hs%abs_bounds). fold (M x) in Hm.
    set (q := bound / alpha') in *.
    assert (kappa * M x <= alpha * q <= (1 + eta) * (kappa * M x)) by
      (replace (alpha * q) with (kappa * bound) by (unfold q, kappa; field; lra); split; nra).
    assert (0 <= alpha * (scale x - (1 - u) * q)) by (apply Rmult_le_pos; lra).
    assert (0 <= alpha * ((1 + u) * q - scale x)) by (apply Rmult_le_pos; lra). split; nra. }
  replace (fun x => release h (f x) (scale x)) with
    (fun x => release h (f x) (alpha * scale x / alpha)).
  2: { apply FunctionalExtensionality.functional_extensionality. intros x. f_equal. field; lra. }
  apply (admissible_noise_is_private _ _ f (fun x => alpha * scale x) h alpha beta epsilon sym);
    try assumption.
  intros x y N. destruct (smooth x y N) as [L G]. assert (P := M0 x). assert (P' := M0 y).
  destruct (B x y N) as [Bx Bx'], (B y x (sym x y N)) as [By _].
  assert (L' := Rmax_l (S x) floor). fold (M x) in L'. assert (Eb := exp_ineq1_le beta').
  assert (grow : M x <= exp beta' * M y).
  { assert (R := Rmax_l (S y) floor). assert (R' := Rmax_r (S y) floor). fold (M y) in R, R'.
    apply Rmax_lub; nra. }
  assert (K0 : 0 < kappa) by now apply Rdiv_lt_0_compat. assert (K1 : 1 <= (1 - u) * kappa) by nra.
  set (m := kappa * M y) in *. assert (m0 : 0 < m) by now apply Rmult_lt_0_compat.
  assert (grow' : kappa * M x <= exp beta' * m) by (unfold m; nra).
  assert (X : (1 + zeta) * exp beta' <= exp beta).
  { apply Rle_trans with (exp zeta * exp beta'); [|rewrite exp_times; apply exp_monotone; lra].
    apply Rmult_le_compat_r; [left; apply exp_pos | apply exp_ineq1_le]. }
  assert (K2 : M x <= (1 - u) * (kappa * M x)) by nra. repeat split; try lra.
  apply Rle_trans with (1 := Bx'), Rle_trans with ((1 - u) * (1 + zeta) * (exp beta' * m)).
  { apply Rmult_le_compat; trivial; apply Rmult_le_pos; lra. }
  apply Rle_trans with (exp beta * ((1 - u) * m)); [|apply Rmult_le_compat_l; trivial;
    left; apply exp_pos]. assert (0 <= (1 - u) * m * (exp beta - (1 + zeta) * exp beta'))
    by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra.
Qed.

(* Of dpfast/statistics/quantiles/smooth.py: a lower quantile p / r with admissible noise, scaled to
   the computed smooth sensitivity, is epsilon-private when a row is added or removed. *)
Theorem quantile_is_private_add_remove : forall lo hi p r h floor alpha beta alpha' beta' epsilon
    scale,
  lo <= hi -> (0 < r)%nat -> (p <= r)%nat -> 0 <= beta' -> 0 < floor ->
  0 < alpha' <= (1 - / 2 ^ 39) * alpha -> beta' + / 2 ^ 40 <= beta ->
  (forall x, computed_scale alpha' floor (smooth_add_remove.quantile_smooth lo hi p r beta' x)
    (scale x)) ->
  admissible h alpha beta epsilon ->
  pure (smooth_add_remove.neighbors lo hi) epsilon
    (fun x => release h (smooth_add_remove.quantile lo hi p r x) (scale x)).
Proof.
  intros lo hi p r h floor alpha beta alpha' beta' epsilon scale Hlo Hr Hp Hb' Hf Ha Hb Hs H.
  eapply calibrated_release_is_private; eauto.
  - intros x y (X & Y & v & P). split; [|split]; [assumption..|]. exists v. tauto.
  - now apply smooth_add_remove.quantile_smooth_is_least_bound.
Qed.

(* Of dpfast/statistics/quantiles/smooth.py: the same for the order statistic of rank m of n rows,
   when a row is replaced. *)
Theorem quantile_is_private_replace : forall lo hi n m h floor alpha beta alpha' beta' epsilon
    scale,
  lo <= hi -> (1 <= m <= n)%nat -> 0 <= beta' -> 0 < floor ->
  0 < alpha' <= (1 - / 2 ^ 39) * alpha -> beta' + / 2 ^ 40 <= beta ->
  (forall x, computed_scale alpha' floor (smooth_replace.smooth_sensitivity lo hi n m beta' x)
    (scale x)) ->
  admissible h alpha beta epsilon ->
  pure (fun x y => order_statistics.is_table lo hi n x /\ order_statistics.is_table lo hi n y /\
      smooth_replace.neighbors x y) epsilon
    (fun x => release h (order_statistics.order_statistic lo hi x m) (scale x)).
Proof.
  intros lo hi n m h floor alpha beta alpha' beta' epsilon scale Hlo Hm Hb' Hf Ha Hb Hs H.
  eapply calibrated_release_is_private; eauto.
  - intros x y (X & Y & N). split; [|split]; [assumption..|].
    unfold smooth_replace.neighbors. now rewrite order_statistics.hamming_symmetric.
  - intros x y (X & Y & N).
    exact (proj1 (smooth_replace.smooth_sensitivity_least lo hi n m beta' Hlo Hm Hb') x y X Y N).
Qed.
