(* The exponential mechanism: its loss, and that its range is bounded. *)

From Coq Require Import Reals Lra List.
From Dpfast Require Import distributions.
Import ListNotations.
Open Scope R_scope.

(* The base measure is public. It excludes a candidate by 0, and not all of them. *)
Definition is_base {A : Type} (candidates : list A) (base : A -> R) : Prop :=
  (forall o, In o candidates -> 0 <= base o) /\ exists o, In o candidates /\ 0 < base o.

Definition weight {A : Type} (base : A -> R) (c : R) (utility : A -> R) (o : A) : R :=
  base o * exp (c * utility o).

(* The probability of a candidate is in proportion to its weight. *)
Definition chance {A : Type} (candidates : list A) (base : A -> R) (c : R) (utility : A -> R)
    (o : A) : R :=
  weight base c utility o / total (weight base c utility) candidates.

Definition exponential_mechanism {T A : Type} (candidates : list A) (base : A -> R) (c : R)
    (utility : T -> A -> R) (x : T) : distribution A :=
  map (fun o => (o, chance candidates base c (utility x) o)) candidates.

(* From u to v the utilities of all candidates change by amounts in an interval of this length. *)
Definition changes_within {A : Type} (range : R) (candidates : list A) (u v : A -> R) : Prop :=
  exists least, forall o, In o candidates -> least <= v o - u o <= least + range.

(* Bounded range: the log ratios of the probabilities that candidates have under p and q are in an
   interval of length epsilon. It is said without logarithms and quotients. *)
Definition bounded_range {A : Type} (epsilon : R) (candidates : list A) (p q : A -> R) : Prop :=
  forall o o', In o candidates -> In o' candidates ->
    p o * q o' <= exp epsilon * (p o' * q o).

Lemma weight_nonnegative : forall (A : Type) candidates (base : A -> R) c u o,
  is_base candidates base -> In o candidates -> 0 <= weight base c u o.
Proof.
  intros * [H _] Ho. apply Rmult_le_pos; [now apply H | left; apply exp_pos].
Qed.

Lemma total_positive : forall (A : Type) (f : A -> R) l o,
  (forall x, In x l -> 0 <= f x) -> In o l -> 0 < f o -> 0 < total f l.
Proof.
  induction l as [|x l IH]; simpl; intros o H Ho Hf; [easy|]. assert (0 <= f x) by auto.
  assert (0 <= total f l) by (apply total_nonnegative; auto).
  destruct Ho as [->|Ho]; [lra|]. assert (0 < total f l) by eauto. lra.
Qed.

Lemma total_weight_positive : forall (A : Type) candidates (base : A -> R) c u,
  is_base candidates base -> 0 < total (weight base c u) candidates.
Proof.
  intros A candidates base c u H. pose proof H as [_ [o [Ho Hb]]]. apply (total_positive _ _ _ o);
    auto; [intros; now apply (weight_nonnegative _ candidates)|].
  apply Rmult_lt_0_compat; [easy | apply exp_pos].
Qed.

Lemma chance_nonnegative : forall (A : Type) candidates (base : A -> R) c u o,
  is_base candidates base -> In o candidates -> 0 <= chance candidates base c u o.
Proof.
  intros * H Ho. apply Rmult_le_pos; [now apply (weight_nonnegative _ candidates)|].
  left. apply Rinv_0_lt_compat, total_weight_positive, H.
Qed.

Lemma chance_total : forall (A : Type) candidates (base : A -> R) c u,
  is_base candidates base -> total (chance candidates base c u) candidates = 1.
Proof.
  intros A candidates base c u H. pose proof (total_weight_positive _ _ _ c u H) as Hw.
  rewrite (total_equal _ _ (fun o => / total (weight base c u) candidates * weight base c u o))
    by (intros; unfold chance; lra).
  rewrite total_scaled. field. lra.
Qed.

(* Of dpfast/selection/api.py: the probabilities of candidates are not negative and sum to 1. *)
Theorem exponential_is_distribution : forall (T A : Type) (candidates : list A) base c
    (utility : T -> A -> R) x,
  is_base candidates base ->
  is_distribution (exponential_mechanism candidates base c utility x).
Proof.
  intros * H. unfold exponential_mechanism. split; [|rewrite total_map; now apply chance_total].
  intros o w [o' [E Ho']]%in_map_iff. injection E as <- <-. now apply chance_nonnegative.
Qed.

(* Bounded range implies what privacy asks of each candidate, as both sum to 1. *)
Lemma bounded_range_each : forall (A : Type) epsilon (candidates : list A) p q o,
  total p candidates = 1 -> total q candidates = 1 ->
  bounded_range epsilon candidates p q -> In o candidates -> p o <= exp epsilon * q o.
Proof.
  intros A epsilon candidates p q o Hp Hq H Ho.
  assert (E : total (fun o' => p o * q o') candidates
      <= total (fun o' => exp epsilon * q o * p o') candidates)
    by (apply total_monotone; intros o' Ho'; specialize (H o o' Ho Ho'); lra).
  rewrite !total_scaled, Hp, Hq in E. lra.
Qed.

Lemma bounded_range_larger : forall (A : Type) epsilon epsilon' (candidates : list A) p q,
  epsilon <= epsilon' ->
  (forall o, In o candidates -> 0 <= p o) -> (forall o, In o candidates -> 0 <= q o) ->
  bounded_range epsilon candidates p q -> bounded_range epsilon' candidates p q.
Proof.
  intros A epsilon epsilon' candidates p q He Hp Hq H o o' Ho Ho'. eapply Rle_trans;
    [now apply H|]. apply Rmult_le_compat_r; [apply Rmult_le_pos; auto | now apply exp_monotone].
Qed.

(* Of dpfast/selection/api.py: the log ratios of probabilities have a range of at most c times that
   of the changes of utilities (Cesar and Rogers, ALT 2021). *)
Theorem exponential_bounded_range : forall (A : Type) (candidates : list A) base c range u v,
  is_base candidates base -> 0 <= c -> changes_within range candidates u v ->
  bounded_range (c * range) candidates (chance candidates base c u) (chance candidates base c v).
Proof.
  intros A candidates base c range u v Hb Hc [least H] o o' Ho Ho'. unfold chance.
  pose proof (total_weight_positive _ _ _ c u Hb). pose proof (total_weight_positive _ _ _ c v Hb).
  set (zu := total _ _) in *. set (zv := total (weight base c v) _) in *.
  assert (E : weight base c u o * weight base c v o'
      <= exp (c * range) * (weight base c u o' * weight base c v o)).
  { unfold weight. destruct Hb as [Hb _]. pose proof (H o Ho). pose proof (H o' Ho').
    assert (exp (c * u o) * exp (c * v o') <= exp (c * range) * (exp (c * u o') * exp (c * v o)))
      by (rewrite <- !exp_plus; apply exp_monotone; nra).
    assert (0 <= base o * base o') by (apply Rmult_le_pos; auto). nra. }
  apply (Rmult_le_compat_l (/ (zu * zv))) in E;
    [|left; now apply Rinv_0_lt_compat, Rmult_lt_0_compat].
  rewrite Rinv_mult in E by lra. unfold Rdiv. lra.
Qed.

(* The mechanism is epsilon-private, and between neighbors of epsilon-bounded range. *)
Definition private_of_bounded_range {T A : Type} (neighbors : T -> T -> Prop) (epsilon : R)
    (candidates : list A) (base : A -> R) (c : R) (utility : T -> A -> R) : Prop :=
  private neighbors epsilon 0 (exponential_mechanism candidates base c utility) /\
  forall x y, neighbors x y -> bounded_range epsilon candidates
    (chance candidates base c (utility x)) (chance candidates base c (utility y)).

Lemma changes_suffice : forall (T A : Type) (neighbors : T -> T -> Prop) (candidates : list A)
    base c range utility epsilon,
  is_base candidates base -> 0 <= c -> c * range <= epsilon ->
  (forall x y, neighbors x y -> changes_within range candidates (utility x) (utility y)) ->
  private_of_bounded_range neighbors epsilon candidates base c utility.
Proof.
  intros T A neighbors candidates base c range utility epsilon Hb Hc He H.
  assert (E : forall x y, neighbors x y -> bounded_range epsilon candidates
    (chance candidates base c (utility x)) (chance candidates base c (utility y))).
  { intros x y Hxy. apply (bounded_range_larger _ (c * range)); auto using chance_nonnegative.
    apply exponential_bounded_range; auto. }
  split; [|exact E]. intros x y Hxy. apply outcomes_suffice. intros o Ho.
  apply (bounded_range_each _ _ candidates); auto using chance_total.
Qed.

(* Of dpfast/selection/api.py: the loss is c times the range of the changes of utilities. *)
Theorem exponential_private : forall (T A : Type) (neighbors : T -> T -> Prop)
    (candidates : list A) base c range utility,
  is_base candidates base -> 0 <= c ->
  (forall x y, neighbors x y -> changes_within range candidates (utility x) (utility y)) ->
  private neighbors (c * range) 0 (exponential_mechanism candidates base c utility).
Proof. intros * Hb Hc H. apply (changes_suffice _ _ _ _ _ _ range); auto; lra. Qed.

(* Every utility changes by at most this much between neighbors. *)
Definition sensitivity_at_most {T A : Type} (neighbors : T -> T -> Prop) (candidates : list A)
    (utility : T -> A -> R) (sensitivity : R) : Prop :=
  forall x y, neighbors x y ->
  forall o, In o candidates -> Rabs (utility y o - utility x o) <= sensitivity.

(* All utilities change in the same direction between neighbors, by at most this much. *)
Definition monotone_at_most {T A : Type} (neighbors : T -> T -> Prop) (candidates : list A)
    (utility : T -> A -> R) (sensitivity : R) : Prop :=
  forall x y, neighbors x y ->
    (forall o, In o candidates -> 0 <= utility y o - utility x o <= sensitivity) \/
    (forall o, In o candidates -> 0 <= utility x o - utility y o <= sensitivity).

Lemma rate_times : forall c epsilon k, 0 < k -> c <= epsilon / k -> c * k <= epsilon.
Proof.
  intros c epsilon k Hk H. replace epsilon with (epsilon / k * k) by (field; lra).
  apply Rmult_le_compat_r; lra.
Qed.

(* Of dpfast/selection/api.py: with c = epsilon / (2 sensitivity), rounded down, a draw is
   epsilon-private (McSherry and Talwar, FOCS 2007), and of epsilon-bounded range. *)
Theorem exponential_of_sensitivity : forall (T A : Type) (neighbors : T -> T -> Prop)
    (candidates : list A) base utility sensitivity epsilon c,
  is_base candidates base -> 0 < sensitivity -> 0 <= c <= epsilon / (2 * sensitivity) ->
  sensitivity_at_most neighbors candidates utility sensitivity ->
  private_of_bounded_range neighbors epsilon candidates base c utility.
Proof.
  intros * Hb Hs [Hc He] H. apply (changes_suffice _ _ _ _ _ _ (2 * sensitivity)); auto;
    [apply rate_times; lra|]. intros x y Hxy. exists (- sensitivity). intros o Ho.
  specialize (H x y Hxy o Ho). revert H. unfold Rabs. destruct (Rcase_abs _); lra.
Qed.

(* Of dpfast/selection/api.py: for monotone scores c = epsilon / sensitivity does. *)
Theorem exponential_of_monotone : forall (T A : Type) (neighbors : T -> T -> Prop)
    (candidates : list A) base utility sensitivity epsilon c,
  is_base candidates base -> 0 < sensitivity -> 0 <= c <= epsilon / sensitivity ->
  monotone_at_most neighbors candidates utility sensitivity ->
  private_of_bounded_range neighbors epsilon candidates base c utility.
Proof.
  intros * Hb Hs [Hc He] H. apply (changes_suffice _ _ _ _ _ _ sensitivity); auto;
    [apply rate_times; lra|]. intros x y Hxy.
  destruct (H x y Hxy) as [U|U]; [exists 0 | exists (- sensitivity)];
    intros o Ho; specialize (U o Ho); lra.
Qed.
