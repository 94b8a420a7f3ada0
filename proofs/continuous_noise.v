(* Laplace noise: of a fixed scale, on integers, and for smooth sensitivity with a delta. *)

From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Dpfast Require Import distributions smooth_noise.
Import ListNotations.
Open Scope R_scope.

(* The chance, or the density, of a vector of independent outcomes around the values. *)
Fixpoint vector {A : Type} (chance : A -> A -> R) (values outcomes : list A) : R :=
  match values, outcomes with
  | v :: values, z :: outcomes => chance v z * vector chance values outcomes
  | _, _ => 1
  end.

(* The L1 distance of two vectors. *)
Definition l1 {A : Type} (distance : A -> A -> R) (x y : list A) : R :=
  total (fun pair => distance (fst pair) (snd pair)) (combine x y).

(* Chances that fall by e^(-distance / (D / epsilon)), up to a constant c. *)
Lemma l1_private : forall (A : Type) (place : A -> R) chance distance c D epsilon,
  0 < c -> 0 < D -> 0 < epsilon -> (forall v w, distance v w = Rabs (place v - place w)) ->
  (forall v z, chance v z = c * exp (- (Rabs (place z - place v) / (D / epsilon)))) ->
  forall x y z, length x = length y -> l1 distance x y <= D ->
  vector chance x z <= exp epsilon * vector chance y z.
Proof.
  intros A place chance distance c D epsilon Hc HD He Hd H x y z L B. set (s := D / epsilon) in *.
  assert (I : 0 < / s) by now apply Rinv_0_lt_compat, Rdiv_lt_0_compat.
  assert (C : forall v z, 0 <= chance v z)
    by (intros; rewrite H; apply Rmult_le_pos; [|left; apply exp_pos]; lra).
  assert (N : forall x z, 0 <= vector chance x z).
  { intros l. induction l; intros [|]; simpl; try lra. apply Rmult_le_pos; auto. }
  assert (E : forall x y, 1 <= exp (l1 distance x y / s)).
  { intros l m. assert (0 <= l1 distance l m) by (apply total_nonnegative; intros; rewrite Hd;
      apply Rabs_pos). assert (E := exp_ineq1_le (l1 distance l m / s)). unfold Rdiv in *. nra. }
  apply Rle_trans with (exp (l1 distance x y / s) * vector chance y z).
  - clear B. revert y z L. induction x as [|v x IH]; intros [|w y] [|u z] L; try discriminate;
      try (simpl vector; rewrite Rmult_1_r; apply E).
    unfold l1; simpl. fold (l1 distance x y). unfold Rdiv at 1.
    rewrite Rmult_plus_distr_r, exp_plus. replace (_ * _ * _) with (exp (distance v w * / s) *
      chance w u * (exp (l1 distance x y / s) * vector chance y z)) by (unfold Rdiv; ring).
    apply Rmult_le_compat; auto. rewrite !H, Hd, (Rmult_comm (exp _)), Rmult_assoc, exp_times.
    apply Rmult_le_compat_l, exp_monotone; [lra|].
    assert (T := Rabs_triang (place u - place v) (place v - place w)).
    replace (_ + (_ - _)) with (place u - place w) in T by ring. unfold Rdiv. nra.
  - apply Rmult_le_compat_r, exp_monotone; [apply N|].
    replace epsilon with (D * / s) by (unfold s; field; lra). apply Rmult_le_compat_r; lra.
Qed.

Definition laplace (z : R) : R := exp (- Rabs z) / 2.

(* Of dpfast/noise/api.py: Laplace noise of scale D / epsilon on each coordinate is epsilon-private
   for an L1 sensitivity of D. *)
Theorem laplace_mechanism : forall x y D epsilon z, length x = length y -> 0 < epsilon -> 0 < D ->
  l1 (fun v w => Rabs (v - w)) x y <= D ->
  vector (fun v => release laplace v (D / epsilon)) x z <=
  exp epsilon * vector (fun v => release laplace v (D / epsilon)) y z.
Proof.
  intros x y D epsilon z L He HD H. set (s := D / epsilon).
  assert (I : 0 < / s) by now apply Rinv_0_lt_compat, Rdiv_lt_0_compat.
  refine (l1_private R (fun v => v) _ _ (/ 2 * / s) D epsilon _ HD He _ _ x y z L H);
    [lra | easy |]. intros. fold s. unfold release, laplace, Rdiv.
  rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by lra. ring.
Qed.

(* P(K = k) ~ q^|k| with q = exp(-1/scale). *)
Definition discrete_laplace (scale : R) (k : Z) : R :=
  let q := exp (- (1 / scale)) in (1 - q) / (1 + q) * q ^ Z.abs_nat k.

(* P(|K| <= n). *)
Fixpoint chance_within (chance : Z -> R) (n : nat) : R :=
  match n with
  | O => chance 0%Z
  | S m => chance_within chance m + chance (Z.of_nat n) + chance (- Z.of_nat n)%Z
  end.

(* Of dpfast/noise/distributions/discrete.py: P(|K| >= m) = 2 q^m / (1 + q) for m >= 1. So all
   integers have chance 1 together. *)
Theorem discrete_laplace_tail : forall scale n, 0 < scale ->
  let q := exp (- (1 / scale)) in
  chance_within (discrete_laplace scale) n = 1 - 2 * q ^ (S n) / (1 + q).
Proof.
  intros scale n Hs q. assert (Q : 0 < q) by apply exp_pos.
  induction n as [|n IH]; cbn [chance_within]; [|rewrite IH]; unfold discrete_laplace; fold q.
  - simpl. field; lra.
  - replace (Z.abs_nat (- Z.of_nat (S n))) with (S n) by lia.
    rewrite Zabs2Nat.id, <- !tech_pow_Rmult. field; lra.
Qed.

(* Of dpfast/noise/calibrated_integer.py: discrete Laplace noise of scale D / epsilon on each
   coordinate of a vector of integers is epsilon-private for an L1 sensitivity of D. *)
Theorem discrete_laplace_mechanism : forall x y D epsilon z,
  length x = length y -> 0 < epsilon -> 0 < D ->
  l1 (fun v w => IZR (Z.abs (v - w))) x y <= D ->
  vector (fun v k => discrete_laplace (D / epsilon) (k - v)) x z <=
  exp epsilon * vector (fun v k => discrete_laplace (D / epsilon) (k - v)) y z.
Proof.
  intros x y D epsilon z L He HD H. assert (Hs : 0 < D / epsilon) by now apply Rdiv_lt_0_compat.
  set (q := exp (- (1 / (D / epsilon)))).
  assert (0 < q < 1) by (apply exp_below_one, Rdiv_lt_0_compat; lra).
  refine (l1_private Z IZR _ _ ((1 - q) / (1 + q)) D epsilon _ HD He _ _ x y z L H); intros.
  - apply Rdiv_lt_0_compat; lra.
  - now rewrite abs_IZR, minus_IZR.
  - unfold discrete_laplace. fold q. f_equal. unfold q. rewrite exp_power. f_equal.
    rewrite INR_IZR_INZ, Zabs2Nat.id_abs, abs_IZR, minus_IZR. field; lra.
Qed.

(* What (epsilon, delta) says of two densities, in one direction. w z is 1 where an event holds and
   0 elsewhere, or the chance that a further step holds; [a, b] is as wide as one likes. *)
Definition close (epsilon delta : R) (p q : R -> R) : Prop :=
  forall w a b P Q, a <= b -> (forall z, 0 <= w z <= 1) ->
  is_RInt (fun z => w z * p z) a b P -> is_RInt (fun z => w z * q z) a b Q ->
  P <= exp epsilon * Q + delta.

Definition approximate {T : Type} (neighbors : T -> T -> Prop) (epsilon delta : R)
    (density : T -> R -> R) : Prop :=
  forall x y, neighbors x y -> close epsilon delta (density x) (density y).

Lemma pointwise_close : forall epsilon delta p q, 0 <= delta ->
  (forall z, p z <= exp epsilon * q z) -> close epsilon delta p q.
Proof.
  intros epsilon delta p q Hd H w a b P Q ab Hw HP HQ. assert (P <= exp epsilon * Q); [|lra].
  apply (is_RInt_le _ _ a b P _ ab HP (is_RInt_scal _ a b (exp epsilon) Q HQ)).
  intros z _. unfold scal; simpl; unfold mult; simpl. destruct (Hw z) as [W _].
  assert (M := Rmult_le_compat_l _ _ _ W (H z)). lra.
Qed.

(* V1 and V2 bound the integral of D below l and above r; between them D is not positive. *)
Lemma integral_by_tails : forall (f D V1 g1 V2 g2 : R -> R) (B1 B2 l r a b I : R),
  l <= r -> a <= b -> (forall z, 0 <= f z <= 1) -> is_RInt (fun z => f z * D z) a b I ->
  (forall z, is_derive V1 z (g1 z) /\ continuous g1 z) ->
  (forall z, is_derive V2 z (g2 z) /\ continuous g2 z) ->
  (forall z, z <= l -> D z = g1 z /\ 0 <= D z /\ 0 <= V1 z <= B1) ->
  (forall z, r <= z -> D z = g2 z /\ 0 <= D z /\ - B2 <= V2 z <= 0) ->
  (forall z, l <= z <= r -> D z <= 0) -> I <= B1 + B2.
Proof.
  intros f D V1 g1 V2 g2 B1 B2 l r a b I lr ab Hf HD d1 d2 H1 H2 H0.
  assert (M : forall z, 0 <= D z -> f z * D z <= D z) by (intros z; specialize (Hf z); nra).
  assert (M0 : forall z, D z <= 0 -> f z * D z <= 0) by (intros z; specialize (Hf z); nra).
  assert (P1 := H1 l (Rle_refl l)). assert (P2 := H2 r (Rle_refl r)).
  set (u := Rmax a (Rmin b l)). set (v := Rmax a (Rmin b r)).
  assert (O : a <= u /\ u <= v /\ v <= b /\ (a < u -> u <= l) /\ (v < b -> r <= v) /\
    (u < v -> l <= u /\ v <= r)) by (unfold u, v, Rmax, Rmin; repeat destruct Rle_dec; lra).
  destruct O as (O1 & O2 & O3 & O4 & O5 & O6). clearbody u v.
  assert (Euv := ex_RInt_Chasles_1 (V := R_CompleteNormedModule) _ a v b ltac:(lra)
    (ex_intro _ I HD)).
  assert (X1 := RInt_correct _ _ _ (ex_RInt_Chasles_1 _ a u v (conj O1 O2) Euv)).
  assert (X0 := RInt_correct _ _ _ (ex_RInt_Chasles_2 _ a u v (conj O1 O2) Euv)).
  assert (X2 := RInt_correct _ _ _ (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) _ a v b
    ltac:(lra) (ex_intro _ I HD))).
  assert (S := is_RInt_unique _ _ _ _ (is_RInt_Chasles _ _ _ _ _ _
    (is_RInt_Chasles _ _ _ _ _ _ X1 X0) X2)).
  rewrite (is_RInt_unique _ _ _ _ HD) in S. unfold plus in S; simpl in S.
  assert (G1 := is_RInt_derive V1 g1 a u (fun z _ => proj1 (d1 z)) (fun z _ => proj2 (d1 z))).
  assert (G2 := is_RInt_derive V2 g2 v b (fun z _ => proj1 (d2 z)) (fun z _ => proj2 (d2 z))).
  assert (L1 : _ <= V1 u - V1 a) by (apply (is_RInt_le _ _ _ _ _ _ O1 X1 G1); intros z Hz;
    destruct (H1 z ltac:(lra)) as (<- & K & _); auto).
  assert (L2 : _ <= V2 b - V2 v) by (apply (is_RInt_le _ _ _ _ _ _ O3 X2 G2); intros z Hz;
    destruct (H2 z ltac:(lra)) as (<- & K & _); auto).
  assert (L0 : _ <= (v - u) * 0) by (apply (is_RInt_le _ _ _ _ _ _ O2 X0 (is_RInt_const u v 0));
    intros z Hz; apply M0, H0; lra).
  assert (V1 u - V1 a <= B1) by (destruct O1 as [O1 | <-]; [|lra];
    assert (T := H1 a ltac:(lra)); assert (T' := H1 u ltac:(lra)); lra).
  assert (V2 b - V2 v <= B2) by (destruct O3 as [O3 | <-]; [|lra];
    assert (T := H2 b ltac:(lra)); assert (T' := H2 v ltac:(lra)); lra). lra.
Qed.

(* What the wider distribution gains below u, in units of the smaller scale, and its derivative. *)
Definition gain (epsilon s k u : R) : R := (exp ((u - s) * k) - exp epsilon * exp u) / 2.
Definition excess (epsilon s k u : R) : R := (k * exp ((u - s) * k) - exp epsilon * exp u) / 2.

(* Half of the divergence at the largest dilation. *)
Definition half_divergence (epsilon beta s : R) : R :=
  (1 - exp (- beta)) * exp (- (epsilon + beta + s) / (exp beta - 1)) / 2.

Lemma gain_bounded : forall epsilon beta s k u, 0 < beta -> exp (- beta) <= k -> u <= s ->
  gain epsilon s k u <= half_divergence epsilon beta s.
Proof.
  intros epsilon beta s k u Hb Hk Hu. unfold gain, half_divergence. set (K := exp (- beta)) in *.
  assert (0 < K < 1) by now apply exp_below_one.
  assert (Em : exp beta = / K) by (unfold K; rewrite exp_Ropp, Rinv_inv; reflexivity).
  assert (Eb : ln K = - beta) by apply ln_exp. set (e := - (epsilon + beta + s) / (exp beta - 1)).
  set (x := u + (epsilon + beta + s * K) / (1 - K)).
  assert (T := exp_convex K 0 x ltac:(lra)). rewrite exp_0 in T.
  assert (A : exp ((u - s) * k) <= exp e * exp ((1 - K) * 0 + K * x)).
  { rewrite exp_times. apply exp_monotone. apply Rle_trans with ((u - s) * K); [nra|].
    apply Req_le. unfold e, x. rewrite Em. field. lra. }
  assert (B : exp epsilon * exp u = exp e * (K * exp x)).
  { unfold K at 1. rewrite !exp_times. f_equal. unfold e, x. rewrite Em. field. lra. }
  rewrite B. assert (P := exp_pos e). apply Rmult_le_compat_l with (r := exp e) in T; lra.
Qed.

Lemma wide : forall s lambda u, release laplace s (exp lambda) u =
  exp (- lambda - Rabs (u - s) * exp (- lambda)) / 2.
Proof.
  intros. assert (P := exp_pos (- lambda)). unfold release, laplace. rewrite !over_e. unfold Rminus.
  rewrite Rabs_mult, (Rabs_pos_eq (exp _)), exp_plus, Ropp_mult_distr_l by lra. unfold Rdiv; ring.
Qed.

Lemma halves : forall a b c, a <= b + c -> exp a / 2 <= exp b * (exp c / 2).
Proof. intros a b c H%exp_monotone. rewrite exp_plus in H. lra. Qed.

Lemma mirror : forall s scale u, release laplace (- s) scale (- u) = release laplace s scale u /\
  laplace (- u) = laplace u.
Proof.
  intros. unfold release, laplace. replace ((- u - - s) / scale) with (- ((u - s) / scale))
    by (unfold Rdiv; ring). now rewrite !Rabs_Ropp.
Qed.

Lemma left_tail : forall epsilon beta s lambda u, let k := exp (- lambda) in
  let D := release laplace s (exp lambda) u - exp epsilon * laplace u in
  0 < lambda <= beta -> Rabs s <= epsilon -> u * (1 - k) <= - (epsilon + lambda + s * k) ->
  D = excess epsilon s k u /\ 0 <= D /\ 0 <= gain epsilon s k u <= half_divergence epsilon beta s.
Proof.
  intros epsilon beta s lambda u k D Hl Hs Hu. assert (S := abs_bounds _ _ Hs).
  assert (K := exp_below_one lambda ltac:(lra)). fold k in K.
  assert (A : u <= s) by nra. assert (B : u <= 0) by nra.
  assert (E : exp epsilon * exp u <= k * exp ((u - s) * k))
    by (unfold k at 1; rewrite !exp_times; apply exp_monotone; lra).
  assert (X : D = excess epsilon s k u).
  { unfold D, laplace, excess. rewrite wide, !Rabs_left1 by lra. fold k.
    replace (- lambda - - (u - s) * k) with (- lambda + (u - s) * k) by ring.
    rewrite exp_plus, Ropp_involutive. fold k. field. }
  assert (P := exp_pos ((u - s) * k)). rewrite X. repeat split; try (unfold excess, gain; nra).
  apply gain_bounded; try lra. apply exp_monotone; lra.
Qed.

(* In the pair Z and s + e^lambda Z the narrow distribution never has an excess over the wide one,
   and the wide one has an excess in its tails alone. *)
Lemma laplace_pair : forall alpha beta epsilon delta s lambda,
  0 < beta -> alpha + beta <= epsilon -> 0 <= delta ->
  half_divergence epsilon beta s + half_divergence epsilon beta (- s) <= delta ->
  Rabs s <= alpha -> 0 <= lambda <= beta ->
  close epsilon delta laplace (release laplace s (exp lambda)) /\
  close epsilon delta (release laplace s (exp lambda)) laplace.
Proof.
  intros alpha beta epsilon delta s lambda Hb Hsum D0 D Hs Hl. set (k := exp (- lambda)).
  assert (K0 : 0 < k) by apply exp_pos. assert (As := Rabs_pos s).
  assert (inside : forall u, Rabs u <= epsilon + lambda + Rabs (u - s) * k ->
    release laplace s (exp lambda) u <= exp epsilon * laplace u)
    by (intros u Hu; rewrite wide; apply halves; fold k; lra).
  assert (H0 : k <= exp 0) by (apply exp_monotone; lra). rewrite exp_0 in H0. split.
  { apply pointwise_close; [assumption|]. intros u. rewrite wide. apply halves. fold k.
    assert (T := Rabs_triang u (- s)). rewrite Rabs_Ropp in T. fold (u - s) in T.
    assert (U := Rabs_pos u). nra. }
  destruct (Rle_lt_or_eq_dec 0 lambda (proj1 Hl)) as [pos | zero].
  2: { apply pointwise_close; [assumption|]. intros u. apply inside. unfold k.
    rewrite <- zero, Ropp_0, exp_0. assert (T := Rabs_triang (u - s) s).
    replace (u - s + s) with u in T by ring. lra. }
  assert (k1 := exp_below_one lambda pos). fold k in k1.
  set (l := - ((epsilon + lambda + s * k) / (1 - k))).
  set (r := (epsilon + lambda - s * k) / (1 - k)).
  assert (El : l * (1 - k) = - (epsilon + lambda + s * k)) by (unfold l; field; lra).
  assert (Er : r * (1 - k) = epsilon + lambda - s * k) by (unfold r; field; lra).
  intros f a b P Q ab Hf HP HQ.
  assert (HD : is_RInt (fun u => f u * (release laplace s (exp lambda) u - exp epsilon * laplace u))
    a b (P - exp epsilon * Q)).
  { eapply is_RInt_ext; [|exact (is_RInt_minus _ _ _ _ _ _ HP
      (is_RInt_scal _ _ _ (exp epsilon) _ HQ))].
    intros u _. unfold minus, plus, opp, scal; simpl; unfold mult; simpl. ring. }
  apply Rplus_le_reg_r with (- (exp epsilon * Q)).
  apply Rle_trans with (half_divergence epsilon beta s + half_divergence epsilon beta (- s));
    [|lra].
  refine (integral_by_tails f _ (gain epsilon s k) (excess epsilon s k)
    (fun u => - gain epsilon (- s) k (- u)) (fun u => excess epsilon (- s) k (- u))
    _ _ l r a b _ _ ab Hf HD _ _ _ _ _); try lra.
  2, 3: intros u; unfold gain, excess; split; [auto_derive; [trivial | unfold Rminus; field]|];
    apply (ex_derive_continuous (V := R_NormedModule)); auto_derive; trivial.
  - apply Rmult_le_reg_r with (1 - k); lra.
  - intros u Hu. apply left_tail; try lra. fold k. rewrite <- El. apply Rmult_le_compat_r; lra.
  - intros u Hu. destruct (mirror s (exp lambda) u) as [M1 M2].
    destruct (left_tail epsilon beta (- s) lambda (- u)) as (E & C & G);
      rewrite ?Rabs_Ropp; try lra.
    { fold k. apply Rmult_le_compat_r with (r := 1 - k) in Hu; lra. }
    rewrite M1, M2 in *. fold k in E, G. repeat split; trivial; lra.
  - intros u [Hu Hu']. assert (I := inside u). assert (T := abs_bounds s alpha Hs).
    apply Rmult_le_compat_r with (r := 1 - k) in Hu; [|lra].
    apply Rmult_le_compat_r with (r := 1 - k) in Hu'; [|lra].
    assert (release laplace s (exp lambda) u <= exp epsilon * laplace u); [apply I | lra].
    assert (0 <= Rabs (u - s) * k) by (apply Rmult_le_pos; [apply Rabs_pos | lra]).
    revert H. unfold Rabs; repeat destruct Rcase_abs; lra.
Qed.

Lemma close_units : forall epsilon delta p q v a, 0 < a -> close epsilon delta p q ->
  close epsilon delta (release p v a) (release q v a).
Proof.
  intros epsilon delta p q v a Ha H w b c P Q bc Hw HP HQ.
  assert (E : forall x, a * ((x - v) / a) + v = x) by (intros; field; lra).
  assert (units : forall h I, is_RInt (fun z => w z * release h v a z) b c I ->
    is_RInt (fun u => w (a * u + v) * h u) ((b - v) / a) ((c - v) / a) I).
  { intros h I HI. rewrite <- (E b), <- (E c) in HI. apply is_RInt_comp_lin in HI.
    eapply is_RInt_ext; [|exact HI]. intros u _. unfold scal; simpl; unfold mult; simpl.
    unfold release. replace ((a * u + v - v) / a) with u by (field; lra). field; lra. }
  apply (H (fun u => w (a * u + v)) _ _ P Q) with (3 := units p P HP) (4 := units q Q HQ); auto.
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat|]; lra.
Qed.

Definition arccosh (x : R) : R := ln (x + sqrt (x ^ 2 - 1)).

(* alpha in closed form: the least of what delta and what epsilon allow. *)
Definition laplace_alpha (epsilon delta beta : R) : R :=
  let m := exp beta - 1 in
  Rmin (m * arccosh (delta * exp ((epsilon + beta) / m) / (1 - exp (- beta)))) (epsilon - beta).

Lemma cosh_below : forall x c, 1 <= c -> Rabs x <= arccosh c -> cosh x <= c.
Proof.
  intros x c Hc Hx. set (y := arccosh c) in *. assert (R := sqrt_pos (c ^ 2 - 1)).
  assert (Y : exp y = c + sqrt (c ^ 2 - 1)) by (apply exp_ln; lra).
  assert (Y' : exp (- y) = c - sqrt (c ^ 2 - 1)).
  { rewrite exp_Ropp, Y. apply Rmult_eq_reg_l with (c + sqrt (c ^ 2 - 1)); [|lra].
    rewrite Rinv_r by lra. assert (Q := sqrt_sqrt (c ^ 2 - 1) ltac:(nra)). nra. }
  assert (T := abs_bounds _ _ Hx). assert (A := exp_monotone x y ltac:(lra)).
  assert (B := exp_monotone 0 (y + x) ltac:(lra)).
  rewrite exp_0, exp_plus in B. unfold cosh. rewrite (exp_Ropp x).
  assert (P := exp_pos x). assert (Z := exp_inverse y).
  apply Rmult_le_reg_r with (exp x); [assumption|]. field_simplify; [|lra]. nra.
Qed.

(* Of dpfast/noise/smooth/laplace.py: Laplace noise of scale S / alpha is (epsilon, delta)-private,
   with alpha = m arccosh(delta e^((epsilon + beta) / m) / (1 - e^-beta)), m = e^beta - 1, and at
   most epsilon - beta. *)
Theorem laplace_noise_is_private : forall (T : Type) (neighbors : T -> T -> Prop) f S alpha beta
    epsilon delta,
  (forall x y, neighbors x y -> neighbors y x) -> smooth_bound neighbors f S beta -> 0 < beta ->
  1 <= delta * exp ((epsilon + beta) / (exp beta - 1)) / (1 - exp (- beta)) ->
  0 < alpha <= laplace_alpha epsilon delta beta ->
  approximate neighbors epsilon delta (fun x => release laplace (f x) (S x / alpha)).
Proof.
  intros T neighbors f S alpha beta epsilon delta sym smooth Hb Hc [A L].
  unfold laplace_alpha in L. set (m := exp beta - 1) in *. set (c := delta * _ / _) in *.
  assert (B := exp_below_one beta Hb). assert (M := exp_inverse beta). assert (1 < exp beta) by nra.
  assert (L1 := Rle_trans _ _ _ L (Rmin_l _ _)). assert (L2 := Rle_trans _ _ _ L (Rmin_r _ _)).
  assert (E := exp_pos ((epsilon + beta) / m)).
  assert (Ed : delta = c * (1 - exp (- beta)) * exp (- ((epsilon + beta) / m)))
    by (rewrite (exp_Ropp (_ / m)); unfold c; field; lra). clearbody c.
  assert (E' := exp_pos (- ((epsilon + beta) / m))).
  refine (pair_of_neighbors (close epsilon delta) T neighbors f S laplace alpha beta _ _ sym
    smooth A).
  - intros. now apply close_units.
  - intros s lambda Hs Hl. apply laplace_pair with alpha beta; try lra.
    + rewrite Ed. repeat apply Rmult_le_pos; lra.
    + assert (C : cosh (s / m) <= c).
      { apply cosh_below; [assumption|]. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ m))
          by (apply Rlt_le, Rinv_0_lt_compat; unfold m; lra).
        apply Rmult_le_reg_l with m; unfold m in *; [lra|]. field_simplify; lra. }
      rewrite Ed. apply Rle_trans with (cosh (s / m) * (1 - exp (- beta)) *
        exp (- ((epsilon + beta) / m))); [|repeat apply Rmult_le_compat_r; lra].
      apply Req_le. unfold half_divergence, cosh. fold m.
      replace (- (epsilon + beta + s) / m) with (- ((epsilon + beta) / m) + - (s / m))
        by (unfold m; field; lra).
      replace (- (epsilon + beta + - s) / m) with (- ((epsilon + beta) / m) + s / m)
        by (unfold m; field; lra). rewrite !exp_plus. field.
Qed.

(* Some shift is allowed for epsilon = 1, delta = 1/4, e^beta = 2. *)
Example laplace_shift_exists : 0 < laplace_alpha 1 (1 / 4) (ln 2).
Proof.
  assert (L := ln_lt_2). assert (E := exp_ineq1_le 1).
  assert (L1 : ln 2 < 1)
    by (rewrite <- (ln_exp 1); apply ln_increasing; [lra|]; apply (exp_ineq1 1); lra).
  unfold laplace_alpha. rewrite exp_Ropp, exp_ln by lra. apply Rmin_glb_lt; [|lra].
  replace (2 - 1) with 1 by ring. rewrite Rmult_1_l. unfold arccosh.
  replace ((1 + ln 2) / 1) with (1 + ln 2) by field. rewrite exp_plus, exp_ln by lra.
  set (c := _ / _). assert (1 < c) by (unfold c; field_simplify; lra).
  rewrite <- ln_1. apply ln_increasing; [lra|]. assert (S := sqrt_pos (c ^ 2 - 1)). lra.
Qed.
