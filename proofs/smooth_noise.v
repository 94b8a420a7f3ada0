(* Noise for smooth sensitivity: which shifts and dilations cost at most epsilon, by densities. *)

From Coq Require Import Reals Lra Lia FunctionalExtensionality.
From Dpfast Require Import distributions.
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

Lemma abs_bounds : forall x y, Rabs x <= y -> - y <= x <= y.
Proof. intros x y. unfold Rabs. destruct Rcase_abs; lra. Qed.
Lemma ln_monotone : forall x y, 0 < x -> x <= y -> ln x <= ln y.
Proof. intros x y P [H | ->]; [apply Rlt_le, ln_increasing; assumption | lra]. Qed.
Lemma exp_times : forall x y, exp x * exp y = exp (x + y).
Proof. intros; now rewrite exp_plus. Qed.
Lemma exp_inverse : forall x, exp x * exp (- x) = 1.
Proof. intros. rewrite exp_times, Rplus_opp_r. apply exp_0. Qed.
Lemma exp_below_one : forall x, 0 < x -> 0 < exp (- x) < 1.
Proof. intros. rewrite <- exp_0. split; [apply exp_pos | apply exp_increasing; lra]. Qed.
Lemma over_e : forall a lambda, a / exp lambda = a * exp (- lambda).
Proof. intros. now rewrite exp_Ropp. Qed.

Lemma exp_convex : forall t a b, 0 <= t <= 1 ->
  exp ((1 - t) * a + t * b) <= (1 - t) * exp a + t * exp b.
Proof.
  intros t a b Ht. set (m := (1 - t) * a + t * b).
  assert (A := exp_ineq1_le (a - m)). assert (B := exp_ineq1_le (b - m)). assert (P := exp_pos m).
  replace (exp a) with (exp m * exp (a - m)) by (rewrite exp_times; f_equal; ring).
  replace (exp b) with (exp m * exp (b - m)) by (rewrite exp_times; f_equal; ring).
  assert (1 <= (1 - t) * exp (a - m) + t * exp (b - m)) by (unfold m in *; nra). nra.
Qed.

(* Proves an inequality with quotients by a positive a. *)
Ltac clear_quotient a := apply Rmult_le_reg_r with a; [lra | field_simplify; lra].

(* Rescaled by the smaller of both scales, neighbors are such a pair; `near` says that the first of
   two densities is at most about the second, in any sense that survives a change of units. *)
Lemma pair_of_neighbors : forall (near : (R -> R) -> (R -> R) -> Prop) (T : Type)
    (neighbors : T -> T -> Prop) f S h alpha beta,
  (forall p q v a, 0 < a -> near p q -> near (release p v a) (release q v a)) ->
  (forall s lambda, Rabs s <= alpha -> 0 <= lambda <= beta ->
    near h (release h s (exp lambda)) /\ near (release h s (exp lambda)) h) ->
  (forall x y, neighbors x y -> neighbors y x) -> smooth_bound neighbors f S beta -> 0 < alpha ->
  forall x y, neighbors x y ->
  near (release h (f x) (S x / alpha)) (release h (f y) (S y / alpha)).
Proof.
  intros near T neighbors f S h alpha beta units H sym smooth A.
  assert (W : forall x y, neighbors x y -> S x <= S y ->
    near (release h (f x) (S x / alpha)) (release h (f y) (S y / alpha)) /\
    near (release h (f y) (S y / alpha)) (release h (f x) (S x / alpha))).
  { intros x y N C. destruct (smooth x y N) as (Sx & Lx & _).
    destruct (smooth y x (sym x y N)) as (_ & _ & By). set (s := (f y - f x) / (S x / alpha)).
    assert (P : 1 <= S y / S x) by clear_quotient (S x).
    assert (E : release h (f y) (S y / alpha) =
      release (release h s (exp (ln (S y / S x)))) (f x) (S x / alpha)).
    { apply functional_extensionality. intros z. unfold release. rewrite exp_ln by lra.
      replace (((z - f x) / (S x / alpha) - s) / (S y / S x)) with ((z - f y) / (S y / alpha))
        by (unfold s; field; lra). field; lra. }
    assert (J : 0 < / S x) by now apply Rinv_0_lt_compat.
    assert (0 < S x / alpha) by now apply Rdiv_lt_0_compat.
    rewrite E. destruct (H s (ln (S y / S x))); [| | split; now apply units].
    - unfold s, Rdiv. rewrite Rinv_mult, Rinv_inv, !Rabs_mult, Rabs_minus_sym.
      rewrite (Rabs_pos_eq (/ S x)), (Rabs_pos_eq alpha) by lra.
      apply Rmult_le_reg_r with (S x); [lra|]. field_simplify; nra.
    - rewrite <- ln_1 at 1. rewrite <- (ln_exp beta).
      split; apply ln_monotone; try lra. clear_quotient (S x). }
  intros x y N. destruct (Rle_or_lt (S x) (S y)); [apply (W x y) | apply (W y x)]; auto; lra.
Qed.

(* Of dpfast/noise/smooth/pair.py: if S is a beta-smooth bound of the local sensitivity and the
   noise Z is admissible, then f + (S / alpha) Z is epsilon-private. *)
Theorem admissible_noise_is_private : forall (T : Type) (neighbors : T -> T -> Prop) f S h
    alpha beta epsilon,
  (forall x y, neighbors x y -> neighbors y x) -> smooth_bound neighbors f S beta ->
  0 < alpha -> admissible h alpha beta epsilon ->
  pure neighbors epsilon (fun x => release h (f x) (S x / alpha)).
Proof.
  intros T neighbors f S h alpha beta epsilon sym smooth A H.
  refine (pair_of_neighbors (fun p q => forall z, p z <= exp epsilon * q z) T neighbors f S h alpha
    beta _ _ sym smooth A).
  - intros p q v a Ha N z. unfold release, Rdiv. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Ha | apply N].
  - intros s l Hs Hl. split; intros z; now apply H.
Qed.

(* s <= gap(c, log k): s is at most the infimum over y >= 0 of phi^-1(c + phi y) - k y. *)
Definition within_gap (phi : R -> R) (c k s : R) : Prop :=
  forall y, 0 <= y -> phi (s + k * y) <= c + phi y.

(* phi is even, grows with |z|, and phi(e^t) is convex in t. *)
Definition log_convex (phi : R -> R) : Prop :=
  (forall z, phi (Rabs z) = phi z) /\ (forall x y, 0 <= x <= y -> phi x <= phi y) /\
  (forall t a b, 0 <= t <= 1 -> phi (exp ((1 - t) * a + t * b)) <=
    (1 - t) * phi (exp a) + t * phi (exp b)).

Lemma log_sum_convex : forall t u v b, 0 <= t <= 1 -> 0 < u -> 0 <= v ->
  u + v * exp (t * b) <= exp ((1 - t) * ln (u + v) + t * ln (u + v * exp b)).
Proof.
  intros t u v b Ht Hu Hv. assert (Eb := exp_pos b). assert (Pb : 0 < u + v * exp b) by nra.
  set (A := ln (u + v)). set (B := ln (u + v * exp b)). set (M := (1 - t) * A + t * B).
  assert (H1 := exp_convex t (- A) (- B) Ht). assert (H2 := exp_convex t (- A) (b - B) Ht).
  replace ((1 - t) * - A + t * - B) with (- M) in H1 by (unfold M; ring).
  replace ((1 - t) * - A + t * (b - B)) with (t * b + - M) in H2 by (unfold M; ring).
  replace (b - B) with (b + - B) in H2 by ring. rewrite !exp_plus in H2.
  assert (EA : (u + v) * exp (- A) = 1)
    by (rewrite <- (exp_ln (u + v)) at 1 by lra; apply exp_inverse).
  assert (EB : (u + v * exp b) * exp (- B) = 1)
    by (rewrite <- (exp_ln (u + v * exp b)) at 1 by lra; apply exp_inverse).
  apply Rmult_le_reg_r with (exp (- M)); [apply exp_pos|]. rewrite exp_inverse. nra.
Qed.

(* Of dpfast/noise/smooth/pair.py, its theorem: no pair loses more than epsilon if the largest shift
   satisfies three inequalities, at lambda = 0 and at lambda = beta alone. *)
Theorem worst_pair : forall phi c alpha beta epsilon,
  0 < c -> 0 < alpha -> 0 <= beta -> log_convex phi ->
  within_gap phi epsilon 1 alpha -> within_gap phi (epsilon + beta) (exp beta) alpha ->
  within_gap phi (epsilon - beta) (exp (- beta)) (exp (- beta) * alpha) ->
  admissible (fun z => c * exp (- phi z)) alpha beta epsilon.
Proof.
  intros phi c alpha beta epsilon Hc Ha Hb (even & grows & convex) G0 GB GA s l z Hs Hl.
  unfold release. rewrite over_e.
  assert (cancel : forall a b d, b <= d + a -> c * exp (- a) <= c * exp (d + - b))
    by (intros; apply Rmult_le_compat_l; [lra|]; apply exp_monotone; lra).
  replace (c * exp (- phi ((z - s) / exp l)) * exp (- l))
    with (c * exp (- (phi ((z - s) * exp (- l)) + l)))
    by (rewrite over_e, Ropp_plus_distr, exp_plus; ring).
  replace (exp epsilon * (c * exp (- phi z))) with (c * exp (epsilon + - phi z))
    by (rewrite exp_plus; ring).
  rewrite <- Rmult_assoc, (Rmult_comm (exp epsilon)), Rmult_assoc, exp_times.
  assert (exists t, 0 <= t <= 1 /\ t * beta = l) as (t & Ht & El).
  { destruct (Req_dec beta 0); [exists 0; lra|]. exists (l / beta).
    split; [split; clear_quotient beta | field; lra]. }
  assert (Hz := Rabs_pos z). assert (El' := exp_pos (- l)). split; apply cancel.
  - set (L := ln (alpha + Rabs z)). assert (EL : exp L = alpha + Rabs z) by (apply exp_ln; lra).
    assert (C := convex t L (L - beta) Ht).
    replace ((1 - t) * L + t * (L - beta)) with (L + - l) in C by (rewrite <- El; ring).
    unfold Rminus in C at 2.
    rewrite !exp_plus, EL in C. specialize (G0 (Rabs z) Hz). specialize (GA (Rabs z) Hz).
    rewrite even, Rmult_1_l in G0.
    replace (exp (- beta) * alpha + exp (- beta) * Rabs z)
      with ((alpha + Rabs z) * exp (- beta)) in GA by ring. rewrite even in GA.
    assert (phi ((alpha + Rabs z) * exp (- l)) <= epsilon - l + phi z) by nra.
    apply Rle_trans with (phi ((alpha + Rabs z) * exp (- l)) + l); [|lra].
    apply Rplus_le_compat_r. rewrite <- even. apply grows. split; [apply Rabs_pos|].
    rewrite Rabs_mult, (Rabs_pos_eq (exp _)) by lra. apply Rmult_le_compat_r; [lra|].
    assert (K := Rabs_triang z (- s)). rewrite Rabs_Ropp in K. unfold Rminus. lra.
  - set (y := (z - s) * exp (- l)). assert (Hy := Rabs_pos y).
    assert (Ez : z = s + exp l * y)
      by (unfold y; rewrite (Rmult_comm (z - s)), <- Rmult_assoc, exp_inverse; ring).
    assert (S := log_sum_convex t alpha (Rabs y) beta Ht Ha Hy). rewrite El in S.
    assert (E2 := exp_pos l). assert (E3 := exp_pos beta).
    specialize (G0 (Rabs y) Hy). specialize (GB (Rabs y) Hy). rewrite even, Rmult_1_l in G0.
    rewrite even, (Rmult_comm (exp beta)) in GB.
    apply Rle_trans with (phi (alpha + Rabs y * exp l)).
    { rewrite Ez, <- even. apply grows. split; [apply Rabs_pos|].
      assert (K := Rabs_triang s (exp l * y)). rewrite Rabs_mult, (Rabs_pos_eq (exp l)) in K; lra. }
    assert (P : 0 <= alpha + Rabs y * exp l) by nra.
    apply Rle_trans with (1 := grows _ _ (conj P S)).
    eapply Rle_trans; [apply convex; assumption|]. rewrite !exp_ln by nra. nra.
Qed.

(* `largest_shift` of pair.py: the least of three gaps, the last in units of the larger scale. *)
Definition largest_shift (gap : R -> R -> R) (epsilon beta : R) : R :=
  Rmin (gap epsilon 0)
    (Rmin (gap (epsilon + beta) beta) (exp beta * gap (epsilon - beta) (- beta))).

Definition compared (epsilon beta cost log_k : R) : Prop :=
  cost = epsilon /\ log_k = 0 \/ cost = epsilon + beta /\ log_k = beta \/
  cost = epsilon - beta /\ log_k = - beta.

Lemma largest_shift_admissible : forall phi c gap epsilon beta alpha,
  0 < c -> 0 <= beta -> log_convex phi -> 0 < alpha <= largest_shift gap epsilon beta ->
  (forall cost log_k, compared epsilon beta cost log_k -> 0 < gap cost log_k ->
    within_gap phi cost (exp log_k) (gap cost log_k)) ->
  admissible (fun z => c * exp (- phi z)) alpha beta epsilon.
Proof.
  intros phi c gap epsilon beta alpha Hc Hb L [A M] G. unfold largest_shift in M.
  assert (M' := Rle_trans _ _ _ M (Rmin_r _ _)). assert (M3 := Rle_trans _ _ _ M' (Rmin_r _ _)).
  assert (M1 := Rle_trans _ _ _ M (Rmin_l _ _)). assert (M2 := Rle_trans _ _ _ M' (Rmin_l _ _)).
  assert (Eb := exp_pos beta). assert (Ea := exp_pos (- beta)). assert (I := exp_inverse beta).
  assert (smaller : forall cost log_k s, compared epsilon beta cost log_k ->
    0 < s <= gap cost log_k -> within_gap phi cost (exp log_k) s).
  { intros cost log_k s C Hs y Hy. assert (P := exp_pos log_k).
    apply Rle_trans with (2 := G cost log_k C ltac:(lra) y Hy). apply L. nra. }
  apply worst_pair; auto; [rewrite <- exp_0 at 1 | |]; apply smaller;
    unfold compared; auto; nra.
Qed.

(* Of density proportional to (1 + |z/unit|^gamma)^-power: `Algebraic` of algebraic.py. *)
Definition algebraic (gamma : nat) (power unit z : R) : R :=
  power * ln (1 + (Rabs z / unit) ^ gamma).

(* The gap in closed form, as algebraic.py computes it. *)
Definition algebraic_gap (gamma : nat) (power unit cost log_k : R) : R :=
  let dual := INR gamma / (INR gamma - 1) in
  let spare := dual * (log_k - cost / (power * INR gamma)) in
  unit * exp (ln (exp (cost / power) - 1) / INR gamma + ln (1 - exp spare) / dual).

Lemma exp_power : forall n x, exp x ^ n = exp (INR n * x).
Proof.
  induction n as [|n IH]; intros x; [now rewrite Rmult_0_l, exp_0|].
  rewrite <- tech_pow_Rmult, IH, exp_times, S_INR. f_equal; ring.
Qed.

Lemma power_convex : forall n t a b, 0 <= t <= 1 -> 0 <= a -> 0 <= b ->
  ((1 - t) * a + t * b) ^ n <= (1 - t) * a ^ n + t * b ^ n.
Proof.
  induction n as [|n IH]; intros t a b Ht Ha Hb; [simpl; lra|].
  assert (I := IH t a b Ht Ha Hb). rewrite <- !tech_pow_Rmult.
  apply Rmult_le_compat_l with (r := (1 - t) * a + t * b) in I; [|nra].
  assert (0 <= (a ^ n - b ^ n) * (a - b)).
  { destruct (Rle_or_lt a b); [assert (a ^ n <= b ^ n) | assert (b ^ n <= a ^ n)];
      try (apply pow_incr; lra); nra. }
  assert (0 <= t * (1 - t)) by nra. nra.
Qed.

Lemma algebraic_log_convex : forall gamma power unit, 0 < power -> 0 < unit ->
  log_convex (algebraic gamma power unit).
Proof.
  intros gamma power unit Hp Hu. unfold algebraic.
  assert (I : 0 < / unit) by now apply Rinv_0_lt_compat.
  assert (P : forall x, 0 <= x -> 0 <= (x / unit) ^ gamma)
    by (intros; apply pow_le, Rmult_le_pos; lra).
  repeat split; [intros; now rewrite Rabs_Rabsolu | intros x y H | intros t a b Ht].
  - rewrite !Rabs_pos_eq by lra. assert (Q := P x ltac:(lra)).
    apply Rmult_le_compat_l, ln_monotone; [lra..|]. apply Rplus_le_compat_l, pow_incr.
    split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra].
  - rewrite !(Rabs_pos_eq (exp _)) by apply Rlt_le, exp_pos. set (v := (exp a / unit) ^ gamma).
    assert (Hv := P (exp a) (Rlt_le _ _ (exp_pos a)) : 0 <= v).
    assert (shift : forall u, (exp (a + u) / unit) ^ gamma = v * exp (INR gamma * u)).
    { intros u. unfold v. rewrite <- exp_power, <- Rpow_mult_distr, exp_plus. f_equal.
      unfold Rdiv; ring. }
    replace ((1 - t) * a + t * b) with (a + t * (b - a)) by ring.
    replace b with (a + (b - a)) at 2 by ring. rewrite !shift.
    replace (INR gamma * (t * (b - a))) with (t * (INR gamma * (b - a))) by ring.
    assert (E := log_sum_convex t 1 v (INR gamma * (b - a)) Ht Rlt_0_1 Hv).
    assert (K := exp_pos (t * (INR gamma * (b - a)))). apply ln_monotone in E; [|nra].
    rewrite ln_exp in E. apply Rmult_le_compat_l with (r := power) in E; lra.
Qed.

Lemma algebraic_within : forall gamma power unit cost log_k,
  (2 <= gamma)%nat -> 0 < power -> 0 < unit -> 0 < cost -> power * INR gamma * log_k < cost ->
  within_gap (algebraic gamma power unit) cost (exp log_k)
    (algebraic_gap gamma power unit cost log_k).
Proof.
  intros gamma power unit cost log_k Hg Hp Hu Hc Hk y Hy. unfold algebraic, algebraic_gap.
  set (g := INR gamma) in *. assert (G : 2 <= g) by (apply (le_INR 2) in Hg; exact Hg).
  set (dual := g / (g - 1)). set (spare := dual * (log_k - cost / (power * g))).
  set (C := exp (cost / power)). set (u := exp spare). assert (Hs : spare < 0).
  { unfold spare, dual. replace (log_k - _) with ((power * g * log_k - cost) * / (power * g))
      by (field; lra). assert (0 < / (power * g)) by (apply Rinv_0_lt_compat; nra).
    assert (0 < g / (g - 1)) by (apply Rdiv_lt_0_compat; lra).
    assert ((power * g * log_k - cost) * / (power * g) < 0) by nra. nra. }
  assert (Hu' := exp_below_one (- spare) ltac:(lra)). rewrite Ropp_involutive in Hu'. fold u in Hu'.
  assert (HC : 1 < C) by (unfold C; rewrite <- exp_0; apply exp_increasing, Rdiv_lt_0_compat; lra).
  set (A := exp ((ln (C - 1) - ln (1 - u)) / g)). set (b := exp ((cost / power - spare) / g)).
  assert (EA : (1 - u) * A ^ gamma = C - 1).
  { unfold A. rewrite exp_power. fold g.
    replace (g * _) with (ln (C - 1) + - ln (1 - u)) by (field; lra).
    rewrite exp_plus, exp_Ropp, !exp_ln by lra. field; lra. }
  assert (Eb : u * b ^ gamma = C).
  { unfold b, u, C. rewrite exp_power, exp_times. fold g. f_equal. field; lra. }
  assert (Ew : u * b = exp log_k).
  { unfold b, u. rewrite exp_times. f_equal. unfold spare, dual; field; lra. }
  assert (Ev : exp (ln (C - 1) / g + ln (1 - u) / dual) = (1 - u) * A).
  { unfold A. rewrite <- (exp_ln (1 - u)) at 2 by lra. rewrite exp_times. f_equal.
    unfold dual; field; lra. }
  assert (PA : 0 < A) by apply exp_pos. assert (Pb : 0 < b) by apply exp_pos.
  rewrite Ev, <- Ew. set (w := y / unit). assert (Hw : 0 <= w) by (unfold w; clear_quotient unit).
  rewrite (Rabs_pos_eq y Hy), Rabs_pos_eq
    by (apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra).
  replace ((unit * ((1 - u) * A) + u * b * y) / unit) with ((1 - u) * A + u * (b * w))
    by (unfold w; field; lra). fold w.
  assert (N : 0 <= b * w) by nra.
  assert (K := power_convex gamma u A (b * w) ltac:(lra) ltac:(lra) N).
  rewrite Rpow_mult_distr, EA, <- (Rmult_assoc u (b ^ gamma)), Eb in K.
  assert (W := pow_le w gamma Hw).
  replace (cost + power * ln (1 + w ^ gamma)) with (power * (cost / power + ln (1 + w ^ gamma)))
    by (field; lra).
  apply Rmult_le_compat_l; [lra|]. rewrite <- (ln_exp (cost / power)), <- ln_mult; fold C;
    [|lra..]. apply ln_monotone; [|lra].
  assert (0 <= ((1 - u) * A + u * (b * w)) ^ gamma)
    by (apply pow_le, Rplus_le_le_0_compat; apply Rmult_le_pos; lra). lra.
Qed.

(* Of dpfast/noise/smooth/algebraic.py: Cauchy, generalized Cauchy and Student's t noise (density
   proportional to (1 + |z/unit|^gamma)^-power) is admissible with the alpha that is shipped. *)
Theorem algebraic_noise_is_admissible : forall c gamma power unit alpha beta epsilon,
  0 < c -> (2 <= gamma)%nat -> 1 <= power -> 0 < unit ->
  0 < beta < epsilon / (INR gamma * power - 1) ->
  0 < alpha <= largest_shift (algebraic_gap gamma power unit) epsilon beta ->
  admissible (fun z => c * exp (- algebraic gamma power unit z)) alpha beta epsilon.
Proof.
  intros c gamma power unit alpha beta epsilon Hc Hg Hp Hu [Hb He] Ha.
  assert (G : 2 <= INR gamma) by (apply (le_INR 2) in Hg; exact Hg).
  assert (P : 2 <= INR gamma * power) by nra.
  apply Rmult_lt_compat_r with (r := INR gamma * power - 1) in He; [|lra].
  unfold Rdiv in He. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in He by lra.
  apply largest_shift_admissible with (algebraic_gap gamma power unit); try lra.
  - apply algebraic_log_convex; lra.
  - intros cost log_k [[-> ->] | [[-> ->] | [-> ->]]] _; apply algebraic_within; lra || lia || nra.
Qed.

Definition cauchy (z : R) : R := / PI / (1 + z ^ 2).
Definition cauchy_alpha (beta epsilon : R) : R :=
  Rmin (2 * sinh (epsilon / 2)) (sqrt (2 * exp beta * (cosh epsilon - cosh beta))).

Lemma cauchy_within : forall cost k s, 0 <= s -> 0 < k -> k * k < exp cost ->
  s * s * exp cost <= (exp cost - 1) * (exp cost - k * k) -> within_gap (algebraic 2 1 1) cost k s.
Proof.
  intros cost k s Hs Hk Hc H y Hy. unfold algebraic. rewrite !Rmult_1_l. assert (0 <= k * y) by nra.
  rewrite !Rabs_pos_eq, <- (ln_exp cost), <- ln_mult by (nra || apply exp_pos).
  unfold Rdiv. rewrite Rinv_1, !Rmult_1_r. apply ln_monotone; [nra|]. set (C := exp cost) in *.
  assert (P := Rle_0_sqr ((C - k * k) * y - s * k)). unfold Rsqr in P.
  apply Rmult_le_reg_l with (C - k * k); nra.
Qed.

(* Of dpfast/noise/smooth/algebraic.py: Cauchy noise of scale S / alpha is epsilon-private, with
   alpha = min(2 sinh(epsilon/2), sqrt(2 e^beta (cosh epsilon - cosh beta))). *)
Theorem cauchy_noise_is_private : forall (T : Type) (neighbors : T -> T -> Prop) f S beta epsilon,
  (forall x y, neighbors x y -> neighbors y x) -> smooth_bound neighbors f S beta ->
  0 < beta < epsilon ->
  pure neighbors epsilon (fun x => release cauchy (f x) (S x / cauchy_alpha beta epsilon)).
Proof.
  intros T neighbors f S beta epsilon sym smooth Hb. set (a := cauchy_alpha beta epsilon).
  assert (EE := exp_inverse epsilon). assert (BB := exp_inverse beta).
  assert (E := exp_pos epsilon). assert (B := exp_pos beta).
  assert (B' := exp_below_one beta ltac:(lra)). assert (one : 1 < exp beta) by nra.
  assert (less : exp beta < exp epsilon) by (apply exp_increasing; lra).
  assert (spread : 2 * exp beta * (cosh epsilon - cosh beta) * exp epsilon =
    (exp epsilon * exp beta - 1) * (exp epsilon - exp beta)) by (unfold cosh; nra).
  set (square := 2 * exp beta * (cosh epsilon - cosh beta)) in *.
  assert (positive : 0 < square) by (apply Rmult_lt_reg_r with (exp epsilon); [lra|];
    rewrite spread, Rmult_0_l; apply Rmult_lt_0_compat; nra).
  assert (K : 0 < sinh (epsilon / 2)) by (rewrite <- sinh_0; apply sinh_lt; lra).
  assert (A : 0 < a) by (apply Rmin_glb_lt; [lra | apply sqrt_lt_R0, positive]).
  assert (A1 : a * a * exp epsilon <= (exp epsilon - 1) * (exp epsilon - 1)).
  { assert (L := Rmin_l _ _ : a <= 2 * sinh (epsilon / 2)). assert (H := exp_inverse (epsilon / 2)).
    replace (exp epsilon) with (exp (epsilon / 2) * exp (epsilon / 2)) in *
      by (rewrite exp_times; f_equal; field). unfold sinh in *.
    set (u := exp (epsilon / 2)) in *. set (v := exp (- (epsilon / 2))) in *.
    replace (u * u - 1) with (u * (u - v)) by (rewrite <- H; ring).
    assert (M : a * a <= (u - v) * (u - v)) by nra.
    apply Rmult_le_compat_r with (r := u * u) in M; nra. }
  assert (A2 : a * a * exp epsilon <= (exp epsilon * exp beta - 1) * (exp epsilon - exp beta)).
  { rewrite <- spread. apply Rmult_le_compat_r; [lra|].
    rewrite <- (sqrt_sqrt square) by lra. assert (L := Rmin_r _ _ : a <= sqrt square). nra. }
  apply admissible_noise_is_private with beta; try assumption.
  assert (F : cauchy = fun z => / PI * exp (- algebraic 2 1 1 z)).
  { apply functional_extensionality. intros z. unfold cauchy, algebraic.
    replace (Rabs z / 1) with (Rabs z) by field. assert (I := pow2_ge_0 z).
    rewrite Rmult_1_l, exp_Ropp, pow2_abs, exp_ln by lra. reflexivity. }
  rewrite F. apply worst_pair; try (apply Rinv_0_lt_compat, PI_RGT_0); try lra.
  - apply algebraic_log_convex; lra.
  - apply cauchy_within; lra || nra.
  - apply cauchy_within; rewrite ?exp_plus; nra.
  - apply cauchy_within; unfold Rminus; rewrite ?exp_plus; try nra.
    assert (P : 0 <= exp (- beta) * (exp (- beta) * exp (- beta))) by nra.
    apply (Rmult_le_compat_r _ _ _ P) in A2. eapply Rle_trans; [|eapply Rle_trans; [apply A2|]];
      [lra|]. apply Req_le. transitivity ((exp epsilon * (exp beta * exp (- beta)) - exp (- beta)) *
      (exp epsilon * exp (- beta) - exp beta * exp (- beta)) * exp (- beta)); [|rewrite BB]; ring.
Qed.

(* Two tables with answers 0 and 1: S = 1 is a smooth bound for every beta >= 0. *)
Example smooth_bound_of_two_tables :
  smooth_bound (fun x y : bool => x <> y) (fun x => if x then 1 else 0) (fun _ => 1) (1 / 2).
Proof.
  intros x y _. assert (E := exp_ineq1_le (1 / 2)).
  destruct x, y; repeat split; try lra; apply Rabs_le; lra.
Qed.
