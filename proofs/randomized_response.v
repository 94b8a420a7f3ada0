(* Randomized response: each row is answered alone, at random. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import distributions composition.
Import ListNotations.
Open Scope R_scope.

(* The probabilities of the true category of k, and of each other category. *)
Definition keep (epsilon : R) (k : nat) : R := exp epsilon / (exp epsilon + INR k - 1).
Definition stray (epsilon : R) (k : nat) : R := 1 / (exp epsilon + INR k - 1).

(* Categories are 0 .. k - 1, and any other value counts as the default. *)
Definition category (k default value : nat) : nat := if (value <? k)%nat then value else default.

Definition kary (epsilon : R) (k default value : nat) : distribution nat :=
  map (fun y => (y, if Nat.eq_dec y (category k default value) then keep epsilon k
    else stray epsilon k)) (seq 0 k).

(* The answers of all rows, which are independent. *)
Fixpoint responses (epsilon : R) (k default : nat) (rows : list nat) : distribution (list nat) :=
  match rows with
  | [] => certain []
  | row :: rest => bind (kary epsilon k default row)
      (fun y => bind (responses epsilon k default rest) (fun ys => certain (y :: ys)))
  end.

(* How many are j. *)
Definition count (j : nat) (l : list nat) : R := total (fun y => if Nat.eq_dec y j then 1 else 0) l.

(* The estimated fraction of category j, from n answers, and the estimated variance of that. *)
Definition value (epsilon : R) (k j n : nat) (answers : list nat) : R :=
  (count j answers / INR n - stray epsilon k) / (keep epsilon k - stray epsilon k).
Definition variance (epsilon : R) (k j n : nat) (answers : list nat) : R :=
  let strays := stray epsilon k * (1 - stray epsilon k) in
  let spread := keep epsilon k * (1 - keep epsilon k) in
  let scale := INR n * (keep epsilon k - stray epsilon k) ^ 2 in
  strays / scale + value epsilon k j n answers * ((spread - strays) / scale).

Lemma odds : forall e k default, 0 <= e -> (default < k)%nat ->
  0 < stray e k <= keep e k /\ keep e k = exp e * stray e k
  /\ keep e k + (INR k - 1) * stray e k = 1.
Proof.
  intros e k default E K. assert (1 <= INR k) by (apply (le_INR 1); lia).
  pose proof (exp_ineq1_le e). assert (0 < stray e k) by (apply Rdiv_lt_0_compat; lra).
  assert (keep e k = exp e * stray e k) as O by (unfold keep, stray; field; lra).
  rewrite O. unfold stray in *. repeat split; try nra. field. lra.
Qed.

Lemma category_below : forall k default v, (default < k)%nat -> (category k default v < k)%nat.
Proof. intros. unfold category. destruct (Nat.ltb_spec v k); lia. Qed.

(* The mean of c1 for the answer j, and c0 for any other answer. *)
Lemma expectation_kary : forall e k default v j c0 c1, 0 <= e -> (default < k)%nat -> (j < k)%nat ->
  expectation (kary e k default v) (fun y => c0 + (if Nat.eq_dec y j then c1 - c0 else 0))
  = c0 + (if Nat.eq_dec (category k default v) j then keep e k else stray e k) * (c1 - c0).
Proof.
  intros e k default v j c0 c1 E D J. destruct (odds e k default E D) as [_ [_ O]].
  pose proof (category_below k default v D) as C. set (c := category k default v) in *.
  unfold expectation, kary. fold c. rewrite total_map; simpl.
  rewrite (total_equal _ _ (fun y => stray e k * c0
    + (if Nat.eq_dec y j then stray e k * (c1 - c0) else 0) + (if Nat.eq_dec y c
      then (keep e k - stray e k) * (c0 + (if Nat.eq_dec c j then c1 - c0 else 0)) else 0))).
  2: { intros y _. destruct (Nat.eq_dec y c) as [->|]; destruct (Nat.eq_dec _ j); ring. }
  rewrite !total_plus, (total_one _ _ (fun _ => stray e k * (c1 - c0))),
    (total_one _ _ (fun _ => (keep e k - stray e k) * _))
    by (apply seq_NoDup || apply in_seq; lia).
  assert (L : forall l : list nat, total (fun _ => stray e k * c0) l
    = INR (length l) * (stray e k * c0))
    by (induction l as [|z l IH]; simpl length; rewrite ?S_INR; simpl; lra).
  rewrite L, seq_length. destruct (Nat.eq_dec c j); nra.
Qed.

Lemma distribution_kary : forall e k default, 0 <= e -> (default < k)%nat ->
  is_mechanism (kary e k default).
Proof.
  intros e k default E D v. destruct (odds e k default E D) as [O _]. split.
  - intros y w [z [I _]]%in_map_iff. injection I as <- <-. destruct Nat.eq_dec; lra.
  - replace 1 with (1 + (if Nat.eq_dec (category k default v) default then keep e k else stray e k)
      * (1 - 1)) by ring.
    rewrite <- expectation_kary by assumption. apply total_equal. intros y _.
    destruct Nat.eq_dec; ring.
Qed.

Lemma distribution_responses : forall e k default, 0 <= e -> (default < k)%nat ->
  is_mechanism (responses e k default).
Proof.
  intros e k default E D rows. pose proof (distribution_kary e k default E D).
  induction rows; simpl; auto 9.
Qed.

(* Of dpfast/statistics/response.py, binary (k = 2) and kary: all answers together are
   epsilon-private, if one row is replaced. *)
Theorem kary_is_private : forall epsilon k default, 0 <= epsilon -> (default < k)%nat ->
  private replaces epsilon 0 (responses epsilon k default).
Proof.
  intros e k default E D x y [l [r [a [b [-> ->]]]]].
  pose proof (distribution_kary e k default E D) as K.
  pose proof (distribution_responses e k default E D) as M.
  destruct (odds e k default E D) as [O1 [O2 _]]. pose proof (exp_ineq1_le e).
  induction l as [|c l IH]; simpl.
  - replace (within e 0) with (@within (list nat) (e + 0) (0 + 0)) by (f_equal; ring).
    apply within_bind_sum; auto 9; [|intros c; apply within_same; auto 9; lra].
    apply (outcomes_suffice _ (seq 0 k)). intros z _. do 2 destruct Nat.eq_dec; nra.
  - replace (within e 0) with (@within (list nat) (0 + e) (0 + 0)) by (f_equal; ring).
    apply within_bind_sum; auto 9. apply within_same; auto; lra.
Qed.

(* Three categories, e^epsilon = 3. Two answers cost twice epsilon, and so do two replaced rows. *)
Example three_categories : let answer := responses (ln 3) 3 0 in
  keep (ln 3) 3 = 3 / 5 /\ stray (ln 3) 3 = 1 / 5
  /\ private replaces (ln 3 + ln 3) (1 - (1 - 0) * (1 - 0))
    (fun x => bind (answer x) (fun a => bind (answer x) (fun b => certain (a, b))))
  /\ private (fun x y => exists k, (k <= 2)%nat /\ steps replaces k x y) (INR 2 * ln 3)
    (0 * (exp (INR 2 * ln 3) - 1) / (exp (ln 3) - 1)) answer.
Proof.
  assert (0 < ln 3) as E by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (is_mechanism (responses (ln 3) 3 0)) by (apply distribution_responses; lra || lia).
  assert (private replaces (ln 3) 0 (responses (ln 3) 3 0)) by (apply kary_is_private; lra || lia).
  unfold keep, stray. rewrite exp_ln by lra. simpl INR. repeat split; try lra.
  - apply adaptive_composition; auto; lra.
  - replace (3 - 1) with (exp (ln 3) - 1) by (rewrite exp_ln; lra).
    apply (group_privacy _ _ _ _ _ _ 2); auto; lra.
Qed.

(* The number of answers j has a mean M, and a variance. *)
Lemma moments : forall e k default j rows a b d, 0 <= e -> (default < k)%nat -> (j < k)%nat ->
  let c := count j (map (category k default) rows) in
  let M := INR (length rows) * stray e k + c * (keep e k - stray e k) in
  expectation (responses e k default rows)
    (fun ys => a + b * (count j ys - M) + d * (count j ys - M) ^ 2)
  = a + d * (INR (length rows) * (stray e k * (1 - stray e k))
    + c * (keep e k * (1 - keep e k) - stray e k * (1 - stray e k))).
Proof.
  intros e k default j rows a b d E D J. revert a b d.
  induction rows as [|row rows IH]; intros a b d; cbn zeta in *; cbn [responses].
  - rewrite expectation_certain. unfold count; simpl. ring.
  - rewrite expectation_bind. cbn [length map]. rewrite S_INR. unfold count in *. cbn [total].
    set (c := total _ (map _ rows)) in *.
    set (s := if Nat.eq_dec (category k default row) j then keep e k else stray e k).
    set (M := INR (length rows) * stray e k + c * (keep e k - stray e k)) in *.
    replace ((INR (length rows) + 1) * stray e k + _) with (M + s)
      by (unfold M, s; destruct Nat.eq_dec; ring).
    set (V := INR (length rows) * _ + _) in IH.
    transitivity (expectation (kary e k default row) (fun y =>
      let c0 := a - b * s + d * s ^ 2 + d * V in
      let c1 := a + b * (1 - s) + d * (1 - s) ^ 2 + d * V in
      c0 + (if Nat.eq_dec y j then c1 - c0 else 0))).
    + apply expectation_equal. intros y. rewrite expectation_bind.
      set (i := if Nat.eq_dec y j then 1 else 0).
      etransitivity; [|etransitivity; [apply (IH (a + b * (i - s) + d * (i - s) ^ 2)
        (b + 2 * d * (i - s)) d)|unfold i; destruct (Nat.eq_dec y j); ring]].
      apply expectation_equal. intros ys. rewrite expectation_certain. cbn [total]. fold i. ring.
    + cbn zeta. rewrite expectation_kary by assumption. fold s. unfold V, s.
      destruct Nat.eq_dec; ring.
Qed.

Lemma gap : forall e k default (rows : list nat), 0 < e -> (default < k)%nat -> rows <> [] ->
  0 < keep e k - stray e k /\ 0 < INR (length rows).
Proof.
  intros e k default rows E D N. destruct (odds e k default) as [O1 [O2 _]]; [lra | easy|].
  pose proof (exp_ineq1 e). split; [nra|]. apply lt_0_INR. destruct rows; [easy | simpl; lia].
Qed.

(* Of dpfast/statistics/response.py, Estimate.value: the estimate of a fraction is unbiased. *)
Theorem value_is_unbiased : forall epsilon k default j rows,
  0 < epsilon -> (default < k)%nat -> (j < k)%nat -> rows <> [] ->
  expectation (responses epsilon k default rows) (value epsilon k j (length rows))
  = count j (map (category k default) rows) / INR (length rows).
Proof.
  intros e k default j rows E D J N. destruct (gap e k default rows E D N) as [G L].
  set (c := count j (map (category k default) rows)).
  pose (b := 1 / (INR (length rows) * (keep e k - stray e k))).
  etransitivity; [|etransitivity; [apply (moments e k default j rows (c / INR (length rows)) b 0);
    lra || easy | ring]].
  apply expectation_equal. intros ys. fold c. unfold value, b. field. lra.
Qed.

(* Of dpfast/statistics/response.py, Estimate.variance: so is the estimate of its variance. *)
Theorem variance_is_unbiased : forall epsilon k default j rows,
  0 < epsilon -> (default < k)%nat -> (j < k)%nat -> rows <> [] ->
  let fraction := count j (map (category k default) rows) / INR (length rows) in
  expectation (responses epsilon k default rows) (variance epsilon k j (length rows))
  = expectation (responses epsilon k default rows)
    (fun answers => (value epsilon k j (length rows) answers - fraction) ^ 2).
Proof.
  intros e k default j rows E D J N fraction. destruct (gap e k default rows E D N) as [G L].
  pose (b := 1 / (INR (length rows) * (keep e k - stray e k))).
  transitivity (0 + b ^ 2 * (INR (length rows) * (stray e k * (1 - stray e k))
    + count j (map (category k default) rows)
    * (keep e k * (1 - keep e k) - stray e k * (1 - stray e k)))).
  - unfold variance. cbn zeta. set (u := _ / _) at 1. set (v := _ / (_ * _)).
    rewrite (expectation_equal _ _ _ (fun ys => v * value e k j (length rows) ys + u))
      by (intros; ring).
    rewrite expectation_linear, value_is_unbiased by (try apply distribution_responses;
      lra || assumption). unfold u, v, b. field. lra.
  - rewrite <- (moments e k default j rows 0 0) by (lra || assumption).
    apply expectation_equal. intros ys. unfold fraction, value, b. field. lra.
Qed.
