(* Noise for smooth sensitivity: which shifts and dilations cost at most epsilon, by densities. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

(* The density at z of value + scale Z, for noise Z of density h. *)
Definition release (h : R -> R) (value scale z : R) : R := h ((z - value) / scale) / scale.

(* S bounds the change of f to any neighbor, so the local sensitivity, and S is beta-smooth. *)
Definition smooth_bound {T : Type} (neighbors : T -> T -> Prop) (f S : T -> R) (beta : R) : Prop :=
  forall x y, neighbors x y -> 0 < S x /\ Rabs (f x - f y) <= S x /\ S x <= exp beta * S y.

(* No outcome is more likely on a table than on its neighbor by a factor of more than e^epsilon. *)
Definition pure {T : Type} (neighbors : T -> T -> Prop) (epsilon : R) (density : T -> R -> R) :
    Prop :=
  forall x y, neighbors x y -> forall z, density x z <= exp epsilon * density y z.

(* The pair Z and s + e^lambda Z with |s| <= alpha, 0 <= lambda <= beta loses at most epsilon. *)
Definition admissible (h : R -> R) (alpha beta epsilon : R) : Prop :=
  forall s lambda z, Rabs s <= alpha -> 0 <= lambda <= beta ->
  h z <= exp epsilon * release h s (exp lambda) z /\
  release h s (exp lambda) z <= exp epsilon * h z.

Lemma exp_monotone : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H | ->]; [apply Rlt_le, exp_increasing, H | lra]. Qed.

Lemma ln_monotone : forall x y, 0 < x -> x <= y -> ln x <= ln y.
Proof. intros x y P [H | ->]; [apply Rlt_le, ln_increasing; assumption | lra]. Qed.

Lemma exp_times : forall x y, exp x * exp y = exp (x + y).
Proof. intros; now rewrite exp_plus. Qed.

Lemma ln_below : forall x, 0 < x -> ln x <= x - 1.
Proof. intros x H. pose proof (exp_ineq1_le (ln x)) as E. rewrite exp_ln in E; lra. Qed.

Lemma over_e : forall a lambda, a / exp lambda = a * exp (- lambda).
Proof. intros. now rewrite exp_Ropp. Qed.

(* Rescaled by the smaller of both scales, a pair of neighbors is such a pair. *)
Lemma release_rescaled : forall h v w a b z, 0 < a -> 0 < b ->
  release h w b z = release h ((w - v) / a) (exp (ln (b / a))) ((z - v) / a) * / a.
Proof.
  intros h v w a b z A B. unfold release. rewrite exp_ln by (apply Rdiv_lt_0_compat; assumption).
  replace (((z - v) / a - (w - v) / a) / (b / a)) with ((z - w) / b) by (field; lra). field; lra.
Qed.

Lemma pair_of_neighbors : forall h v w a b alpha beta epsilon z, 0 < a <= b ->
  Rabs (w - v) <= alpha * a -> b <= exp beta * a -> admissible h alpha beta epsilon ->
  release h v a z <= exp epsilon * release h w b z /\
  release h w b z <= exp epsilon * release h v a z.
Proof.
  intros h v w a b alpha beta epsilon z A Hs Hb H. rewrite (release_rescaled h v w a b) by lra.
  assert (P : 0 < / a) by (apply Rinv_0_lt_compat; lra).
  assert (Q : 1 <= b / a) by (apply Rmult_le_reg_r with a; [lra|]; field_simplify; lra).
  destruct (H ((w - v) / a) (ln (b / a)) ((z - v) / a)) as [U V].
  - unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ a)) by lra.
    apply Rmult_le_reg_r with a; [lra|]. field_simplify; lra.
  - split; [rewrite <- ln_1; apply ln_monotone; lra|]. rewrite <- (ln_exp beta).
    apply ln_monotone; [lra|]. apply Rmult_le_reg_r with a; [lra|]. field_simplify; lra.
  - change (release h v a z) with (h ((z - v) / a) * / a).
    rewrite <- !Rmult_assoc. split; apply Rmult_le_compat_r; try assumption; lra.
Qed.

(* Of dpfast/noise/smooth/pair.py: if S is a beta-smooth bound of the local sensitivity and the
   noise Z is admissible, then f + (S / alpha) Z is epsilon-private. *)
Theorem admissible_noise_is_private : forall (T : Type) (neighbors : T -> T -> Prop) f S h
    alpha beta epsilon,
  (forall x y, neighbors x y -> neighbors y x) -> smooth_bound neighbors f S beta -> 0 < alpha ->
  admissible h alpha beta epsilon ->
  pure neighbors epsilon (fun x => release h (f x) (S x / alpha)).
Proof.
  intros T neighbors f S h alpha beta epsilon sym smooth A H x y N z.
  destruct (smooth x y N) as (Sx & Lx & Bx), (smooth y x (sym x y N)) as (Sy & Ly & By).
  assert (I : 0 < / alpha) by now apply Rinv_0_lt_compat.
  assert (W : forall u v, u <= v -> u / alpha <= v / alpha)
    by (intros; apply Rmult_le_compat_r; lra).
  assert (E : forall u, alpha * (u / alpha) = u) by (intros; field; lra).
  assert (0 < S x / alpha /\ 0 < S y / alpha) as [] by (split; apply Rmult_lt_0_compat; lra).
  assert (Dx : S x / alpha <= exp beta * (S y / alpha))
    by (unfold Rdiv; rewrite <- Rmult_assoc; apply W; assumption).
  assert (Dy : S y / alpha <= exp beta * (S x / alpha))
    by (unfold Rdiv; rewrite <- Rmult_assoc; apply W; assumption).
  destruct (Rle_or_lt (S x) (S y)) as [C | C].
  - apply (pair_of_neighbors h (f x) (f y) _ _ alpha beta); auto.
    rewrite E, Rabs_minus_sym. assumption.
  - apply (pair_of_neighbors h (f y) (f x) _ _ alpha beta); auto.
    + split; [assumption | apply W; lra].
    + rewrite E, Rabs_minus_sym. assumption.
Qed.

(* Of dpfast/noise/smooth/pair.py, the classical form: a shift that costs epsilon1 and a dilation
   that costs epsilon2, each at every point, make noise admissible for epsilon1 + epsilon2. *)
Theorem shift_and_dilation : forall h alpha beta epsilon1 epsilon2,
  (forall z s, Rabs s <= alpha -> h (z + s) <= exp epsilon1 * h z) ->
  (forall z l, Rabs l <= beta -> exp l * h (exp l * z) <= exp epsilon2 * h z) ->
  admissible h alpha beta (epsilon1 + epsilon2).
Proof.
  intros h alpha beta e1 e2 shift dilation s l z Hs Hl. unfold release.
  rewrite exp_plus, !over_e, (Rmult_comm (z - s)).
  assert (P1 := exp_pos e1). assert (P2 := exp_pos e2). split.
  - assert (A := shift (z - s) s Hs). replace (z - s + s) with z in A by ring.
    assert (B := dilation (exp (- l) * (z - s)) l (Rabs_le l beta ltac:(lra))).
    rewrite <- Rmult_assoc, exp_times in B. replace (l + - l) with 0 in B by ring.
    rewrite exp_0, Rmult_1_l in B. apply Rmult_le_compat_l with (r := exp (- l)) in B.
    2: apply Rlt_le, exp_pos.
    rewrite <- Rmult_assoc, exp_times in B. replace (- l + l) with 0 in B by ring.
    rewrite exp_0, Rmult_1_l in B. nra.
  - assert (A := shift z (- s) ltac:(rewrite Rabs_Ropp; exact Hs)).
    replace (z + - s) with (z - s) in A by ring.
    assert (B := dilation (z - s) (- l) ltac:(rewrite Rabs_Ropp; apply Rabs_le; lra)). nra.
Qed.

(* s <= gap(c, log k): s is at most the infimum over y >= 0 of phi^-1(c + phi y) - k y. *)
Definition within_gap (phi : R -> R) (c k s : R) : Prop :=
  forall y, 0 <= y -> phi (s + k * y) <= c + phi y.

(* phi is even, grows with |z|, and phi(e^t) is convex in t. *)
Definition log_convex (phi : R -> R) : Prop :=
  (forall z, phi (Rabs z) = phi z) /\ (forall x y, 0 <= x <= y -> phi x <= phi y) /\
  (forall t a b, 0 <= t <= 1 -> phi (exp ((1 - t) * a + t * b)) <=
    (1 - t) * phi (exp a) + t * phi (exp b)).

Lemma exp_convex : forall t a b, 0 <= t <= 1 ->
  exp ((1 - t) * a + t * b) <= (1 - t) * exp a + t * exp b.
Proof.
  intros t a b Ht. set (m := (1 - t) * a + t * b).
  assert (A := exp_ineq1_le (a - m)). assert (B := exp_ineq1_le (b - m)).
  replace (exp a) with (exp m * exp (a - m)) by (rewrite exp_times; f_equal; ring).
  replace (exp b) with (exp m * exp (b - m)) by (rewrite exp_times; f_equal; ring).
  assert (P := exp_pos m).
  assert (1 <= (1 - t) * exp (a - m) + t * exp (b - m)) by (unfold m in *; nra). nra.
Qed.

Lemma log_sum_convex : forall t u v b, 0 <= t <= 1 -> 0 < u -> 0 <= v ->
  u + v * exp (t * b) <= exp ((1 - t) * ln (u + v) + t * ln (u + v * exp b)).
Proof.
  intros t u v b Ht Hu Hv. assert (Eb := exp_pos b).
  assert (Pb : 0 < u + v * exp b) by nra.
  set (A := ln (u + v)). set (B := ln (u + v * exp b)).
  assert (EA : exp A = u + v) by (unfold A; rewrite exp_ln; lra).
  assert (EB : exp B = u + v * exp b) by (unfold B; rewrite exp_ln; lra).
  assert (H1 := exp_convex t (- A) (- B) Ht). assert (H2 := exp_convex t (- A) (b - B) Ht).
  set (M := (1 - t) * A + t * B).
  replace ((1 - t) * - A + t * - B) with (- M) in H1 by (unfold M; ring).
  replace ((1 - t) * - A + t * (b - B)) with (t * b + - M) in H2 by (unfold M; ring).
  rewrite exp_plus in H2. unfold Rminus in H2 at 2. rewrite (exp_plus b) in H2.
  assert (total : (u + v * exp (t * b)) * exp (- M) <= 1).
  { apply Rle_trans with ((1 - t) * ((u + v) * exp (- A)) + t * ((u + v * exp b) * exp (- B))).
    - apply Rmult_le_compat_l with (r := u) in H1; [|lra].
      apply Rmult_le_compat_l with (r := v) in H2; lra.
    - rewrite <- EA, <- EB, !exp_times, !Rplus_opp_r, exp_0. lra. }
  apply Rmult_le_reg_r with (exp (- M)); [apply exp_pos|].
  rewrite (exp_times M), Rplus_opp_r, exp_0. exact total.
Qed.


(* Of dpfast/noise/smooth/pair.py, its theorem: no pair loses more than epsilon if and only if
   the largest shift satisfies three inequalities, at lambda = 0 and at lambda = beta alone. *)
Theorem worst_pair : forall phi c alpha beta epsilon,
  0 < c -> 0 < alpha -> 0 <= beta -> log_convex phi ->
  admissible (fun z => c * exp (- phi z)) alpha beta epsilon <->
  within_gap phi epsilon 1 alpha /\
  within_gap phi (epsilon + beta) (exp beta) alpha /\
  within_gap phi (epsilon - beta) (exp (- beta)) (exp (- beta) * alpha).
Proof.
  intros phi c alpha beta epsilon Hc Ha Hb (even & grows & convex).
  assert (cancel : forall a b d, c * exp (- a) <= exp d * (c * exp (- b)) <-> b <= d + a).
  { intros a b d. replace (exp d * (c * exp (- b))) with (c * exp (d - b))
      by (unfold Rminus; rewrite exp_plus; ring). split; intros H.
    - apply Rmult_le_reg_l in H; [|assumption]. destruct (Rle_or_lt b (d + a)) as [|L]; [easy|].
      assert (exp (d - b) < exp (- a)) by (apply exp_increasing; lra). lra.
    - apply Rmult_le_compat_l; [lra|]. apply exp_monotone; lra. }
  assert (reads : forall s l z, (c * exp (- phi z) <=
      exp epsilon * release (fun z => c * exp (- phi z)) s (exp l) z <->
      phi ((z - s) * exp (- l)) <= epsilon - l + phi z) /\
    (release (fun z => c * exp (- phi z)) s (exp l) z <= exp epsilon * (c * exp (- phi z)) <->
      phi z <= epsilon + l + phi ((z - s) * exp (- l)))).
  { intros s l z. unfold release. rewrite !over_e.
    replace (c * exp (- phi ((z - s) * exp (- l))) * exp (- l))
      with (c * exp (- (phi ((z - s) * exp (- l)) + l)))
      by (rewrite Ropp_plus_distr, exp_plus; ring).
    rewrite !cancel. split; split; lra. }
  split.
  - intros H.
    assert (A : forall l x, 0 <= l <= beta -> phi ((x + alpha) * exp (- l)) <= epsilon - l + phi x).
    { intros l x Hl. destruct (H alpha l (- x)) as [U _]; [rewrite Rabs_pos_eq; lra | assumption|].
      apply (proj1 (reads alpha l (- x))) in U. rewrite <- (even (- x)), Rabs_Ropp, even in U.
      replace ((- x - alpha) * exp (- l)) with (- ((x + alpha) * exp (- l))) in U by ring.
      rewrite <- even, Rabs_Ropp, even in U. assumption. }
    assert (B : forall y, phi (alpha + exp beta * y) <= epsilon + beta + phi y).
    { intros y. destruct (H alpha beta (alpha + exp beta * y)) as [_ U];
        [rewrite Rabs_pos_eq; lra | lra|]. apply (proj2 (reads alpha beta _)) in U.
      replace ((alpha + exp beta * y - alpha) * exp (- beta)) with (exp (beta + - beta) * y) in U
        by (rewrite exp_plus; ring). now rewrite Rplus_opp_r, exp_0, Rmult_1_l in U. }
    repeat split; intros y Hy.
    + specialize (A 0 y ltac:(lra)). rewrite Ropp_0, exp_0 in A.
      replace (alpha + 1 * y) with ((y + alpha) * 1) by ring. lra.
    + apply B.
    + specialize (A beta y ltac:(lra)).
      replace ((y + alpha) * exp (- beta)) with (exp (- beta) * alpha + exp (- beta) * y) in A
        by ring. assumption.
  - intros (G0 & GB & GA) s l z Hs Hl.
    assert (exists t, 0 <= t <= 1 /\ t * beta = l) as (t & Ht & El).
    { destruct (Req_dec beta 0) as [Z|Z]; [exists 0; lra|]. exists (l / beta).
      split; [|field; lra]. split; apply Rmult_le_reg_r with beta; field_simplify; lra. }
    assert (Hz := Rabs_pos z). assert (El' := exp_pos (- l)). split; apply reads.
    + apply Rle_trans with (phi ((alpha + Rabs z) * exp (- l))).
      { rewrite <- even. apply grows. split; [apply Rabs_pos|]. rewrite Rabs_mult.
        rewrite (Rabs_pos_eq (exp _)) by lra. apply Rmult_le_compat_r; [lra|].
        unfold Rminus. assert (K := Rabs_triang z (- s)). rewrite Rabs_Ropp in K. lra. }
      set (L := ln (alpha + Rabs z)). assert (EL : exp L = alpha + Rabs z) by (apply exp_ln; lra).
      assert (C := convex t L (L - beta) Ht).
      replace ((1 - t) * L + t * (L - beta)) with (L + - l) in C by (rewrite <- El; ring).
      unfold Rminus in C at 2. rewrite !exp_plus, EL in C.
      specialize (G0 (Rabs z) Hz). specialize (GA (Rabs z) Hz). rewrite Rmult_1_l in G0.
      replace (exp (- beta) * alpha + exp (- beta) * Rabs z)
        with ((alpha + Rabs z) * exp (- beta)) in GA by ring.
      rewrite even in G0, GA. nra.
    + set (y := (z - s) * exp (- l)). assert (Hy := Rabs_pos y).
      assert (Ez : z = s + exp l * y).
      { unfold y. replace (exp l * ((z - s) * exp (- l))) with ((z - s) * exp (l + - l))
          by (rewrite exp_plus; ring). rewrite Rplus_opp_r, exp_0. ring. }
      assert (S := log_sum_convex t alpha (Rabs y) beta Ht Ha Hy). rewrite El in S.
      assert (E2 := exp_pos l). assert (E3 := exp_pos beta).
      apply Rle_trans with (phi (alpha + Rabs y * exp l)).
      { rewrite Ez, <- even. apply grows. split; [apply Rabs_pos|].
        assert (K := Rabs_triang s (exp l * y)).
        rewrite Rabs_mult, (Rabs_pos_eq (exp l)) in K; lra. }
      assert (P : 0 <= alpha + Rabs y * exp l) by nra.
      apply Rle_trans with (1 := grows _ _ (conj P S)).
      eapply Rle_trans; [apply convex; assumption|]. rewrite !exp_ln by nra.
      specialize (G0 (Rabs y) Hy). specialize (GB (Rabs y) Hy). rewrite Rmult_1_l in G0.
      rewrite (Rmult_comm (exp beta)) in GB. rewrite even in G0, GB. nra.
Qed.
