(* How privacy losses add up: post-processing, composition, groups of rows, disjoint parts. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import distributions.
Import ListNotations.
Open Scope R_scope.

(* The mean of f(x) for an outcome x. *)
Definition expectation {A : Type} (p : distribution A) (f : A -> R) : R :=
  total (fun xw => snd xw * f (fst xw)) p.

(* One outcome for sure. *)
Definition certain {A : Type} (x : A) : distribution A := [(x, 1)].

(* Draw x from p, then an outcome of k(x). *)
Definition bind {A B : Type} (p : distribution A) (k : A -> distribution B) : distribution B :=
  flat_map (fun xw => map (fun yv => (fst yv, snd xw * snd yv)) (k (fst xw))) p.

(* A mechanism whose weights are probabilities, on every table. *)
Definition is_mechanism {T A : Type} (mechanism : T -> distribution A) : Prop :=
  forall x, is_distribution (mechanism x).

Lemma total_exchange : forall (A B : Type) (f : A -> B -> R) l m,
  total (fun x => total (fun y => f x y) m) l = total (fun y => total (fun x => f x y) l) m.
Proof.
  induction l as [|x l IH]; intros m; simpl.
  - induction m as [|y m IH]; simpl; lra.
  - rewrite IH, <- total_plus. reflexivity.
Qed.

Lemma probability_is_expectation : forall (A : Type) (p : distribution A) e,
  probability p e = expectation p (fun x => if e x then 1 else 0).
Proof. intros. apply total_equal. intros [x w] _; simpl. destruct (e x); ring. Qed.

Lemma expectation_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B) f,
  expectation (bind p k) f = expectation p (fun x => expectation (k x) f).
Proof.
  intros A B p k f. unfold expectation, bind.
  induction p as [|[x w] p IH]; [reflexivity|]; simpl. rewrite total_app, IH. f_equal.
  rewrite total_map, <- total_scaled. apply total_equal. intros; simpl; ring.
Qed.

Lemma expectation_equal : forall (A : Type) (p : distribution A) f g,
  (forall x, f x = g x) -> expectation p f = expectation p g.
Proof. intros A p f g H. apply total_equal. intros [x w] _. now rewrite H. Qed.

Lemma expectation_certain : forall (A : Type) (x : A) f, expectation (certain x) f = f x.
Proof. intros; unfold expectation; simpl; ring. Qed.

Lemma probability_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B) e,
  probability (bind p k) e = expectation p (fun x => probability (k x) e).
Proof.
  intros. rewrite probability_is_expectation, expectation_bind. apply total_equal.
  intros. now rewrite probability_is_expectation.
Qed.

Lemma expectation_monotone : forall (A : Type) (p : distribution A) f g,
  is_distribution p -> (forall x, f x <= g x) -> expectation p f <= expectation p g.
Proof.
  intros A p f g [H _] L. apply total_monotone. intros [x w] I; simpl.
  apply Rmult_le_compat_l; [now apply (H x) | apply L].
Qed.

Lemma expectation_linear : forall (A : Type) (p : distribution A) f a b,
  is_distribution p -> expectation p (fun x => a * f x + b) = a * expectation p f + b.
Proof.
  intros A p f a b [_ H]. transitivity (a * expectation p f + b * total snd p); [|rewrite H; ring].
  unfold expectation. rewrite <- !total_scaled, <- total_plus. apply total_equal. intros; ring.
Qed.

Lemma probability_bounds : forall (A : Type) (p : distribution A) e,
  is_distribution p -> 0 <= probability p e <= 1.
Proof.
  intros A p e [H S]. split.
  - apply total_nonnegative. intros [x w] I; simpl. apply (H x) in I. destruct (e x); lra.
  - rewrite <- S. apply total_monotone. intros [x w] I; simpl. apply (H x) in I.
    destruct (e x); lra.
Qed.

Lemma distribution_certain : forall (A : Type) (x : A), is_distribution (certain x).
Proof. intros; split; simpl; [|ring]. intros y w [E|[]]; inversion E; lra. Qed.
#[global] Hint Resolve distribution_certain : core.

Lemma distribution_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B),
  is_distribution p -> (forall x, is_distribution (k x)) -> is_distribution (bind p k).
Proof.
  intros A B p k P K. split.
  - intros y v I. apply in_flat_map in I as [[x w] [Ix I]].
    apply in_map_iff in I as [[y' v'] [E I]]; simpl in *. inversion E; subst.
    apply Rmult_le_pos; [now apply (proj1 P x) | now apply (proj1 (K x) y)].
  - assert (M : forall C (d : distribution C), expectation d (fun _ => 1) = total snd d)
      by (intros; apply total_equal; intros; simpl; ring).
    rewrite <- M, expectation_bind. transitivity (expectation p (fun _ => 1)).
    + apply total_equal. intros [x w] _; simpl. now rewrite M, (proj2 (K x)).
    + rewrite M. apply P.
Qed.

Lemma within_weaker : forall (A : Type) (p q : distribution A) e d e' d',
  is_distribution q -> e <= e' -> d <= d' -> within e d p q -> within e' d' p q.
Proof.
  intros A p q e d e' d' Q E D H s. specialize (H s).
  assert (exp e <= exp e') by (destruct E as [E|E]; [left; now apply exp_increasing | subst; lra]).
  pose proof (probability_bounds A q s Q). nra.
Qed.

Lemma within_same : forall (A : Type) (p : distribution A) e d,
  is_distribution p -> 0 <= e -> 0 <= d -> within e d p p.
Proof.
  intros A p e d P E D. apply (within_weaker A p p 0 0); auto.
  intros s. rewrite exp_0. lra.
Qed.

Lemma within_delta : forall (A : Type) (p q : distribution A) e d, within e d p q -> 0 <= d.
Proof.
  intros A p q e d H. specialize (H (fun _ => false)).
  assert (N : forall r : distribution A, probability r (fun _ => false) = 0)
    by (induction r; unfold probability in *; simpl; lra).
  rewrite !N in H. lra.
Qed.

(* Numbers v in [0, 1] with signed weights s: some set of numbers has at least the sum of s v. It is
   the set of those numbers whose weights have a positive sum. *)
Lemma best_set : forall l : list (R * R), (forall v s, In (v, s) l -> 0 <= v <= 1) ->
  exists e : R -> bool,
    total (fun vs => snd vs * fst vs) l <= total (fun vs => if e (fst vs) then snd vs else 0) l.
Proof.
  intros l H. pose (same v w := if Req_EM_T v w then 1 else 0).
  pose (mass v := total (fun vs => same v (fst vs) * snd vs) l).
  pose (size v := total (fun vs => same v (fst vs)) l).
  pose (e v := if Rlt_dec 0 (mass v) then true else false).
  exists e. pose (h v := (if e v then 1 else 0) - v).
  assert (N : forall v, 0 <= size v).
  { intros v. apply total_nonnegative. intros w _. unfold same. destruct Req_EM_T; lra. }
  assert (S : forall vs, In vs l -> 1 <= size (fst vs)).
  { unfold size. clear -same. induction l as [|y l IH]; simpl; [tauto|]. intros vs I.
    assert (0 <= total (fun ws => same (fst vs) (fst ws)) l).
    { apply total_nonnegative. intros w _. unfold same. destruct Req_EM_T; lra. }
    destruct I as [<-|I]; [|apply IH in I]; unfold same in *; destruct Req_EM_T; lra. }
  assert (total (fun vs => snd vs * h (fst vs)) l
    = total (fun vs => h (fst vs) / size (fst vs) * mass (fst vs)) l) as E.
  { transitivity (total (fun vs => total (fun ws =>
        same (fst vs) (fst ws) * (snd vs * h (fst vs) / size (fst vs))) l) l).
    - apply total_equal. intros vs I. specialize (S vs I).
      rewrite (total_equal _ _ (fun ws => snd vs * h (fst vs) / size (fst vs)
        * same (fst vs) (fst ws))) by (intros; ring).
      rewrite total_scaled. fold (size (fst vs)). field. lra.
    - rewrite total_exchange. apply total_equal. intros vs I. unfold mass.
      rewrite <- total_scaled. apply total_equal. intros ws _. unfold same.
      destruct (Req_EM_T (fst ws) (fst vs)) as [->|], (Req_EM_T (fst vs)); try (unfold Rdiv; ring);
        congruence. }
  assert (0 <= total (fun vs => snd vs * h (fst vs)) l) as P.
  { rewrite E. apply total_nonnegative. intros [v s] I. pose proof (S _ I). apply H in I.
    simpl in *. unfold Rdiv.
    replace (h v * / size v * mass v) with (h v * mass v * / size v) by ring.
    apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
    unfold h, e. destruct Rlt_dec; nra. }
  assert (total (fun vs => if e (fst vs) then snd vs else 0) l
    = total (fun vs => snd vs * h (fst vs)) l + total (fun vs => snd vs * fst vs) l); [|lra].
  rewrite <- total_plus. apply total_equal. intros vs _. unfold h. destruct (e (fst vs)); ring.
Qed.

(* What (epsilon, delta) says of events it says of tests, which accept an outcome x at random, with
   probability f x. *)
Lemma within_tests : forall (A : Type) epsilon delta (p q : distribution A) (f : A -> R),
  within epsilon delta p q -> (forall x, 0 <= f x <= 1) ->
  expectation p f <= exp epsilon * expectation q f + delta.
Proof.
  intros A epsilon delta p q f W F.
  destruct (best_set (map (fun xw => (f (fst xw), snd xw)) p
    ++ map (fun xw => (f (fst xw), - exp epsilon * snd xw)) q)) as [e E].
  { intros v s I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as [x [I _]];
      inversion I; apply F. }
  rewrite !total_app, !total_map in E; simpl in E.
  specialize (W (fun x => e (f x))). unfold expectation, probability in *.
  assert (forall (g h : A * R -> R) c, (forall x, h x = - c * g x) ->
    total h q = - c * total g q) as C
    by (intros g h c K; rewrite <- total_scaled; apply total_equal; auto).
  rewrite (C (fun xw => snd xw * f (fst xw)) (fun xw => - exp epsilon * snd xw * f (fst xw))
    (exp epsilon)) in E by (intros; ring).
  rewrite (C (fun xw => if e (f (fst xw)) then snd xw else 0)
    (fun xw => if e (f (fst xw)) then - exp epsilon * snd xw else 0) (exp epsilon)) in E
    by (intros; destruct (e _); ring).
  lra.
Qed.

(* An answer, and one of a second mechanism that depends on it. 1 - (1 - d1) (1 - d2) is less than
   d1 + d2. *)
Lemma within_bind : forall (A B : Type) e1 d1 e2 d2 (p q : distribution A)
    (k k' : A -> distribution B),
  is_distribution p -> is_distribution q ->
  (forall x, is_distribution (k x)) -> (forall x, is_distribution (k' x)) -> d2 <= 1 ->
  within e1 d1 p q -> (forall x, within e2 d2 (k x) (k' x)) ->
  within (e1 + e2) (1 - (1 - d1) * (1 - d2)) (bind p k) (bind q k').
Proof.
  intros A B e1 d1 e2 d2 p q k k' P Q K K' L W1 W2 e. rewrite !probability_bind.
  pose proof (exp_pos e1). pose proof (exp_pos e2). rewrite exp_plus.
  assert (forall x, 0 <= probability (k x) e <= 1 /\ 0 <= probability (k' x) e
    /\ probability (k x) e <= exp e2 * probability (k' x) e + d2) as X.
  { intros x. pose proof (probability_bounds B (k x) e (K x)).
    pose proof (probability_bounds B (k' x) e (K' x)). pose proof (W2 x e). tauto. }
  destruct (Rle_lt_or_eq_dec d2 1 L) as [M| ->].
  - pose (h x := Rmin 1 (exp e2 / (1 - d2) * probability (k' x) e)).
    assert (0 < exp e2 / (1 - d2)) by (apply Rdiv_lt_0_compat; lra).
    assert (U : expectation p (fun x => probability (k x) e)
      <= (1 - d2) * expectation p h + d2).
    { rewrite <- expectation_linear by assumption. apply expectation_monotone; [assumption|].
      intros x. destruct (X x) as [? [? ?]]. unfold h, Rmin. destruct Rle_dec; [lra|].
      replace ((1 - d2) * (exp e2 / (1 - d2) * probability (k' x) e))
        with (exp e2 * probability (k' x) e) by (field; lra). lra. }
    assert (V : (1 - d2) * expectation q h
      <= exp e2 * expectation q (fun x => probability (k' x) e)).
    { rewrite <- (Rplus_0_r (_ * _)), <- (Rplus_0_r (exp e2 * _)).
      rewrite <- !expectation_linear by assumption. apply expectation_monotone; [assumption|].
      intros x. rewrite !Rplus_0_r.
      replace (exp e2 * probability (k' x) e)
        with ((1 - d2) * (exp e2 / (1 - d2) * probability (k' x) e)) by (field; lra).
      apply Rmult_le_compat_l; [lra | apply Rmin_r]. }
    assert (Y : expectation p h <= exp e1 * expectation q h + d1).
    { apply within_tests; [assumption|]. intros x. destruct (X x) as [? [? ?]]. unfold h.
      split; [|apply Rmin_l]. apply Rmin_glb; [lra|]. apply Rmult_le_pos; lra. }
    apply (Rmult_le_compat_l (1 - d2)) in Y; [|lra].
    apply (Rmult_le_compat_l (exp e1)) in V; lra.
  - rewrite <- !probability_bind.
    pose proof (probability_bounds _ (bind p k) e (distribution_bind _ _ p k P K)).
    pose proof (probability_bounds _ (bind q k') e (distribution_bind _ _ q k' Q K')).
    assert (0 <= exp e1 * exp e2) by nra. nra.
Qed.

Lemma within_post : forall (A B : Type) e d (p q : distribution A) (k : A -> distribution B),
  is_distribution p -> is_distribution q -> (forall x, is_distribution (k x)) ->
  within e d p q -> within e d (bind p k) (bind q k).
Proof.
  intros A B e d p q k P Q K W.
  replace e with (e + 0) by ring. replace d with (1 - (1 - d) * (1 - 0)) by ring.
  apply within_bind; auto; [lra|]. intros. apply within_same; auto; lra.
Qed.

(* Of dpfast/privacy/composition.py, post_processing: computing anything from an answer alone, with
   fresh randomness or without, costs nothing more. *)
Theorem post_processing : forall (T A B : Type) (neighbors : T -> T -> Prop) epsilon delta
    (mechanism : T -> distribution A) (process : A -> distribution B),
  is_mechanism mechanism -> is_mechanism process ->
  private neighbors epsilon delta mechanism ->
  private neighbors epsilon delta (fun x => bind (mechanism x) process).
Proof.
  intros T A B N e d m k M K P x y n. apply within_post; auto.
Qed.

(* Of dpfast/privacy/composition.py, compose: the second mechanism may depend on the first answer;
   both answers are released. Deltas add up to even less, 1 - (1 - delta1) (1 - delta2). *)
Theorem adaptive_composition : forall (T A B : Type) (neighbors : T -> T -> Prop)
    epsilon1 delta1 epsilon2 delta2
    (first : T -> distribution A) (second : A -> T -> distribution B),
  is_mechanism first -> (forall a, is_mechanism (second a)) -> delta2 <= 1 ->
  private neighbors epsilon1 delta1 first ->
  (forall a, private neighbors epsilon2 delta2 (second a)) ->
  private neighbors (epsilon1 + epsilon2) (1 - (1 - delta1) * (1 - delta2))
    (fun x => bind (first x) (fun a => bind (second a x) (fun b => certain (a, b)))).
Proof.
  intros T A B N e1 d1 e2 d2 f s F S L P1 P2 x y n.
  apply within_bind; auto; try (intros; apply distribution_bind; auto; apply S).
  intros a. apply within_post; auto; try apply S. now apply P2.
Qed.

Lemma within_bind_sum : forall (A B : Type) e1 d1 e2 d2 (p q : distribution A)
    (k k' : A -> distribution B),
  is_distribution p -> is_distribution q ->
  (forall x, is_distribution (k x)) -> (forall x, is_distribution (k' x)) ->
  within e1 d1 p q -> (forall x, within e2 d2 (k x) (k' x)) ->
  within (e1 + e2) (d1 + d2) (bind p k) (bind q k').
Proof.
  intros A B e1 d1 e2 d2 p q k k' P Q K K' W1 W2. pose proof (within_delta _ _ _ _ _ W1).
  assert (0 <= d2).
  { destruct P as [_ P]. destruct p as [|[x w] p]; simpl in P; [lra|].
    eapply within_delta, (W2 x). }
  destruct (Rle_dec d2 1).
  - apply (within_weaker _ _ _ (e1 + e2) (1 - (1 - d1) * (1 - d2))); [| lra | nra |].
    + now apply distribution_bind.
    + now apply within_bind.
  - intros e. pose proof (probability_bounds _ _ e (distribution_bind _ _ p k P K)).
    pose proof (probability_bounds _ _ e (distribution_bind _ _ q k' Q K')).
    pose proof (exp_pos (e1 + e2)). nra.
Qed.

(* Whoever asks questions, each of which may depend on earlier answers. *)
Inductive analyst (Q A : Type) : Type :=
  | Stop : analyst Q A
  | Ask : Q -> (A -> analyst Q A) -> analyst Q A.
Arguments Stop {Q A}.
Arguments Ask {Q A} _ _.

(* All answers that the analyst gets; `release q` is the answer of question q. *)
Fixpoint answers {Q A : Type} (release : Q -> distribution A) (s : analyst Q A) :
    distribution (list A) :=
  match s with
  | Stop => certain []
  | Ask q next =>
      bind (release q) (fun a => bind (answers release (next a)) (fun rest => certain (a :: rest)))
  end.

(* A budget of (epsilon, delta) that is checked before each question: whatever the answers are, the
   losses of all questions add up to no more. `loss q` is (epsilon, delta) of question q. *)
Fixpoint within_limit {Q A : Type} (loss : Q -> R * R) (s : analyst Q A) (epsilon delta : R) :
    Prop :=
  match s with
  | Stop => 0 <= epsilon /\ 0 <= delta
  | Ask q next =>
      forall a, within_limit loss (next a) (epsilon - fst (loss q)) (delta - snd (loss q))
  end.

Lemma distribution_answers : forall (Q A : Type) (release : Q -> distribution A) s,
  is_mechanism release -> is_distribution (answers release s).
Proof.
  intros Q A r s H. induction s as [|q next IH]; simpl; [auto|].
  apply distribution_bind; [apply H|]. intros a. apply distribution_bind; auto.
Qed.

Lemma answers_within : forall (Q A : Type) (r r' : Q -> distribution A) loss s epsilon delta,
  is_mechanism r -> is_mechanism r' ->
  (forall q, within (fst (loss q)) (snd (loss q)) (r q) (r' q)) ->
  within_limit loss s epsilon delta -> within epsilon delta (answers r s) (answers r' s).
Proof.
  intros Q A r r' loss s. induction s as [|q next IH]; simpl; intros e d M M' W L.
  - apply within_same; tauto || auto.
  - replace e with (fst (loss q) + (e - fst (loss q))) by ring.
    replace d with (snd (loss q) + (d - snd (loss q))) by ring.
    apply within_bind_sum; auto; intros; [apply distribution_bind; auto..|apply within_post; auto];
      now apply distribution_answers.
Qed.

(* Of dpfast/privacy/filter.py and dpfast/budget/budget.py: losses, too, may depend on earlier
   answers if they add up to no more than a limit that is fixed beforehand. *)
Theorem budget_is_filter : forall (T Q A : Type) (neighbors : T -> T -> Prop) epsilon delta
    (loss : Q -> R * R) (release : Q -> T -> distribution A) (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private neighbors (fst (loss q)) (snd (loss q)) (release q)) ->
  within_limit loss asks epsilon delta ->
  private neighbors epsilon delta (fun x => answers (fun q => release q x) asks).
Proof.
  intros T Q A N e d loss r s M P L x y n. apply (answers_within Q A _ _ loss); auto.
  - intros q. apply M.
  - intros q. apply M.
  - intros q. now apply P.
Qed.

(* The n-th question has at most the n-th of the losses, and there are as many questions. *)
Fixpoint has_losses {Q A : Type} (loss : Q -> R * R) (losses : list (R * R)) (s : analyst Q A) :
    Prop :=
  match losses, s with
  | [], Stop => True
  | (epsilon, delta) :: rest, Ask q next =>
      fst (loss q) <= epsilon /\ snd (loss q) <= delta /\ forall a, has_losses loss rest (next a)
  | _, _ => False
  end.

(* Of dpfast/privacy/composition.py, compose: losses that are fixed beforehand add up. *)
Theorem losses_add_up : forall (T Q A : Type) (neighbors : T -> T -> Prop)
    (losses : list (R * R)) (loss : Q -> R * R) (release : Q -> T -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private neighbors (fst (loss q)) (snd (loss q)) (release q)) ->
  has_losses loss losses asks ->
  private neighbors (total fst losses) (total snd losses)
    (fun x => answers (fun q => release q x) asks).
Proof.
  intros T Q A N losses loss r s M P H. apply (budget_is_filter T Q A N _ _ loss); auto.
  assert (G : forall e d, total fst losses <= e -> total snd losses <= d ->
    within_limit loss s e d); [|apply G; apply Rle_refl].
  clear M P. revert losses H.
  induction s as [|q next IH]; intros [|[e d] losses] H; simpl in H; try tauto; intros e' d' E D;
    simpl in *; [lra|]. destruct H as [He [Hd H]]. intros a. apply (IH a losses); auto; lra.
Qed.

(* k steps from one table to another. *)
Fixpoint steps {T : Type} (neighbors : T -> T -> Prop) (k : nat) (x y : T) : Prop :=
  match k with
  | O => x = y
  | S k => exists z, neighbors x z /\ steps neighbors k z y
  end.

Lemma within_steps : forall (T A : Type) (neighbors : T -> T -> Prop) epsilon delta
    (mechanism : T -> distribution A) k x y,
  is_mechanism mechanism -> private neighbors epsilon delta mechanism -> steps neighbors k x y ->
  within (INR k * epsilon) (total (fun i => delta * exp (INR i * epsilon)) (seq 0 k))
    (mechanism x) (mechanism y).
Proof.
  intros T A N e d m k. induction k as [|k IH]; intros x y M P H.
  - simpl in H. subst. apply within_same; simpl; auto; lra.
  - destruct H as [z [n H]]. specialize (IH z y M P H). intros s. specialize (IH s).
    pose proof (P x z n s) as Z. rewrite <- cons_seq, <- seq_shift. cbn [total]. rewrite total_map.
    rewrite (total_equal _ _ (fun i => exp e * (d * exp (INR i * e)))), total_scaled.
    2: { intros i _. rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l. ring. }
    rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l. change (INR 0) with 0.
    rewrite Rmult_0_l, exp_0. pose proof (exp_pos e). nra.
Qed.

Lemma geometric : forall e k, 0 < e ->
  total (fun i => exp (INR i * e)) (seq 0 k) = (exp (INR k * e) - 1) / (exp e - 1).
Proof.
  intros e k E. assert (1 < exp e) by (rewrite <- exp_0; now apply exp_increasing).
  induction k as [|k IH].
  - simpl. rewrite Rmult_0_l, exp_0. field. lra.
  - rewrite seq_S, total_app, IH, S_INR. cbn [total]. simpl (0 + k)%nat.
    rewrite Rmult_plus_distr_r, exp_plus, Rmult_1_l. field. lra.
Qed.

(* Of dpfast/privacy/composition.py, group: datasets that differ in up to `size` rows have
   size epsilon, and delta (e^(size epsilon) - 1) / (e^epsilon - 1). *)
Theorem group_privacy : forall (T A : Type) (neighbors : T -> T -> Prop) epsilon delta
    (mechanism : T -> distribution A) size,
  is_mechanism mechanism -> 0 < epsilon -> 0 <= delta ->
  private neighbors epsilon delta mechanism ->
  private (fun x y => exists k, (k <= size)%nat /\ steps neighbors k x y)
    (INR size * epsilon) (delta * (exp (INR size * epsilon) - 1) / (exp epsilon - 1)) mechanism.
Proof.
  intros T A N e d m size M E D P x y [k [K H]].
  eapply within_weaker, within_steps; eauto.
  - apply Rmult_le_compat_r; [lra | now apply le_INR].
  - rewrite total_scaled. unfold Rdiv. rewrite Rmult_assoc. fold (Rdiv (exp (INR size * e) - 1)
      (exp e - 1)). rewrite <- geometric by assumption. apply Rmult_le_compat_l; [assumption|].
    replace size with (k + (size - k))%nat by lia. rewrite seq_app, total_app.
    rewrite <- (Rplus_0_r (total _ (seq 0 k))) at 1. apply Rplus_le_compat_l, total_nonnegative.
    intros. left. apply exp_pos.
Qed.

(* One row more or less, and one row in place of another. *)
Definition add_remove {Row : Type} (x y : list Row) : Prop :=
  exists l r row, (x = l ++ row :: r /\ y = l ++ r) \/ (x = l ++ r /\ y = l ++ row :: r).
Definition replaces {Row : Type} (x y : list Row) : Prop :=
  exists l r row row', x = l ++ row :: r /\ y = l ++ row' :: r.

(* Of dpfast/privacy/composition.py, convert: replacing a row is removing one and adding one. *)
Theorem replace_is_two_steps : forall (Row A : Type) epsilon delta
    (mechanism : list Row -> distribution A),
  is_mechanism mechanism -> private add_remove epsilon delta mechanism ->
  private replaces (2 * epsilon) (delta * (1 + exp epsilon)) mechanism.
Proof.
  intros Row A e d m M P x y [l [r [a [b [-> ->]]]]].
  replace (2 * e) with (INR 2 * e) by (simpl; ring).
  replace (d * (1 + exp e)) with (total (fun i => d * exp (INR i * e)) (seq 0 2)).
  - apply (within_steps _ _ add_remove); auto. exists (l ++ r). split; [exists l, r, a; auto|].
    exists (l ++ b :: r). split; [exists l, r, b; auto | reflexivity].
  - simpl. rewrite Rmult_0_l, exp_0, Rmult_1_l. ring.
Qed.

(* The rows of one part. The part of a row depends on that row alone; rows may be in no part that
   is asked about. *)
Definition rows_of {Row : Type} (part : Row -> nat) (c : nat) (x : list Row) : list Row :=
  filter (fun row => part row =? c)%nat x.

Lemma rows_of_app : forall (Row : Type) (part : Row -> nat) c l r,
  rows_of part c (l ++ r) = rows_of part c l ++ rows_of part c r.
Proof. intros. apply filter_app. Qed.

Lemma rows_of_others : forall (Row : Type) (part : Row -> nat) c l row r,
  part row <> c -> rows_of part c (l ++ row :: r) = rows_of part c (l ++ r).
Proof.
  intros Row part c l row r H. unfold rows_of. rewrite !filter_app; simpl.
  now apply Nat.eqb_neq in H as ->.
Qed.

Lemma rows_of_own : forall (Row : Type) (part : Row -> nat) l row r,
  rows_of part (part row) (l ++ row :: r)
  = rows_of part (part row) l ++ row :: rows_of part (part row) r.
Proof.
  intros. unfold rows_of. rewrite !filter_app; simpl. now rewrite Nat.eqb_refl.
Qed.

(* The losses between two tables that differ in the parts a and b alone. *)
Definition of_parts {Q : Type} (about : Q -> nat) (a b : nat) (loss : Q -> R * R) (q : Q) : R * R :=
  if ((about q =? a) || (about q =? b))%nat then loss q else (0, 0).

(* Of dpfast/budget/parallel.py: questions about one part each cost, under add-remove, the largest
   sum of losses of a part. *)
Theorem parallel_budget : forall (Row Q A : Type) (part : Row -> nat) (about : Q -> nat)
    epsilon delta (loss : Q -> R * R) (release : Q -> list Row -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private add_remove (fst (loss q)) (snd (loss q)) (release q)) ->
  (forall q x y, rows_of part (about q) x = rows_of part (about q) y ->
    release q x = release q y) ->
  (forall c, within_limit (of_parts about c c loss) asks epsilon delta) ->
  private add_remove epsilon delta (fun x => answers (fun q => release q x) asks).
Proof.
  intros Row Q A part about E D loss release asks M P L W x y N.
  pose proof N as [l [r [row S]]].
  apply (answers_within Q A _ _ _ _ E D) with (4 := W (part row)); try (intros q; apply M).
  intros q. unfold of_parts. destruct (Nat.eqb_spec (about q) (part row)) as [I|I]; [now apply P|].
  simpl. rewrite (L q x y); [apply within_same; [apply M | lra..]|].
  destruct S as [[-> ->]|[-> ->]]; now rewrite rows_of_others by auto.
Qed.

(* Of dpfast/budget/parallel.py: under replace such questions cost the sum for the two parts that
   cost most. The number of rows is public. *)
Theorem parallel_budget_replace : forall (Row Q A : Type) (part : Row -> nat) (about : Q -> nat)
    epsilon delta (loss : Q -> R * R) (release : Q -> list Row -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private replaces (fst (loss q)) (snd (loss q)) (release q)) ->
  (forall q x y, rows_of part (about q) x = rows_of part (about q) y -> length x = length y ->
    release q x = release q y) ->
  (forall b c, within_limit (of_parts about b c loss) asks epsilon delta) ->
  private replaces epsilon delta (fun x => answers (fun q => release q x) asks).
Proof.
  intros Row Q A part about E D loss release asks M P L W x y N.
  pose proof N as [l [r [a [b [X Y]]]]].
  apply (answers_within Q A _ _ _ _ E D) with (4 := W (part a) (part b)); try (intros q; apply M).
  intros q. unfold of_parts.
  destruct (Nat.eqb_spec (about q) (part a)) as [I|I]; [now apply P|].
  destruct (Nat.eqb_spec (about q) (part b)) as [J|J]; [now apply P|]. simpl.
  rewrite (L q x y); subst; [apply within_same; [apply M | lra..] | |now rewrite !app_length].
  now rewrite !rows_of_others by auto.
Qed.

(* One question about each part, whatever the answers are. *)
Definition each {A : Type} (parts : list nat) : analyst nat A :=
  fold_right (fun c next => Ask c (fun _ => next)) Stop parts.

Lemma limit_each : forall (A : Type) (loss : nat -> R * R) parts epsilon delta,
  total (fun c => fst (loss c)) parts <= epsilon -> total (fun c => snd (loss c)) parts <= delta ->
  within_limit loss (each (A := A) parts) epsilon delta.
Proof.
  induction parts as [|c parts IH]; simpl; intros; [lra|]. apply IH; lra.
Qed.

Lemma total_one : forall (f : nat -> R) a parts, NoDup parts ->
  total (fun c => if (c =? a)%nat then f c else 0) parts
  = if in_dec Nat.eq_dec a parts then f a else 0.
Proof.
  induction parts as [|c parts IH]; intros N; [reflexivity|].
  inversion N as [|? ? I N']; subst. simpl total. rewrite IH by assumption.
  simpl. destruct (Nat.eqb_spec c a), (Nat.eq_dec c a), (in_dec Nat.eq_dec a parts);
    subst; try tauto; ring.
Qed.

Lemma limit_of_parts : forall (A : Type) (loss : nat -> R * R) parts a b epsilon delta,
  NoDup parts -> 0 <= epsilon -> 0 <= delta ->
  (forall c, In c parts -> fst (loss c) <= epsilon /\ snd (loss c) <= delta) ->
  (a <> b -> In a parts -> In b parts ->
    fst (loss a) + fst (loss b) <= epsilon /\ snd (loss a) + snd (loss b) <= delta) ->
  within_limit (of_parts (fun c => c) a b loss) (each (A := A) parts) epsilon delta.
Proof.
  intros A loss parts a b E D N PE PD L L2. pose (has c := in_dec Nat.eq_dec c parts).
  assert (S : forall f : R * R -> R, f (0, 0) = 0 ->
    total (fun c => f (of_parts (fun c => c) a b loss c)) parts
    = (if has a then f (loss a) else 0)
      + (if Nat.eq_dec a b then 0 else if has b then f (loss b) else 0)).
  { intros f Z. unfold has. destruct (Nat.eq_dec a b) as [<-|I].
    - rewrite <- (total_one (fun c => f (loss c))), Rplus_0_r by assumption.
      apply total_equal. intros c _. unfold of_parts. rewrite orb_diag.
      now destruct (c =? a)%nat.
    - rewrite <- !(total_one (fun c => f (loss c))), <- total_plus by assumption.
      apply total_equal. intros c _. unfold of_parts.
      destruct (Nat.eqb_spec c a), (Nat.eqb_spec c b); simpl; try congruence; lra. }
  apply limit_each; rewrite S by reflexivity; destruct (Nat.eq_dec a b) as [I|I],
    (has a) as [J|J], (has b) as [K|K]; try (pose proof (L2 I J K)); try (pose proof (L a J));
    try (pose proof (L b K)); lra.
Qed.

(* Of dpfast/privacy/composition.py, parallel: one release about each of disjoint parts costs, under
   add-remove, the largest of their losses. *)
Theorem parallel_releases : forall (Row A : Type) (part : Row -> nat) (parts : list nat)
    (loss : nat -> R * R) (release : nat -> list Row -> distribution A) epsilon delta,
  NoDup parts -> 0 <= epsilon -> 0 <= delta ->
  (forall c, is_mechanism (release c)) ->
  (forall c, private add_remove (fst (loss c)) (snd (loss c)) (release c)) ->
  (forall c, In c parts -> fst (loss c) <= epsilon /\ snd (loss c) <= delta) ->
  private add_remove epsilon delta
    (fun x => answers (fun c => release c (rows_of part c x)) (each parts)).
Proof.
  intros Row A part parts loss release E D N PE PD M P L x y [l [r [row S]]].
  eapply answers_within; try (intros c; apply M);
    [|now apply (limit_of_parts _ loss _ (part row) (part row)); auto].
  intros c. unfold of_parts. destruct (Nat.eqb_spec c (part row)) as [->|I]; simpl.
  - apply P. exists (rows_of part (part row) l), (rows_of part (part row) r), row.
    destruct S as [[-> ->]|[-> ->]]; [left | right]; now rewrite rows_of_own, rows_of_app.
  - replace (rows_of part c y) with (rows_of part c x); [apply within_same; [apply M | lra..]|].
    destruct S as [[-> ->]|[-> ->]]; now rewrite rows_of_others by auto.
Qed.

(* Of dpfast/privacy/composition.py, parallel: under replace a row may leave a part for another,
   which costs the sum of two losses, or `staying` if the new row is of the same part. *)
Theorem parallel_releases_replace : forall (Row A : Type) (part : Row -> nat) (parts : list nat)
    (loss staying : nat -> R * R) (release : nat -> list Row -> distribution A) epsilon delta,
  NoDup parts -> 0 <= epsilon -> 0 <= delta ->
  (forall c, is_mechanism (release c)) ->
  (forall c, private add_remove (fst (loss c)) (snd (loss c)) (release c)) ->
  (forall c, private replaces (fst (staying c)) (snd (staying c)) (release c)) ->
  (forall c, In c parts -> fst (staying c) <= epsilon /\ snd (staying c) <= delta) ->
  (forall c, In c parts -> fst (loss c) <= epsilon /\ snd (loss c) <= delta) ->
  (forall b c, b <> c -> In b parts -> In c parts ->
    fst (loss b) + fst (loss c) <= epsilon /\ snd (loss b) + snd (loss c) <= delta) ->
  private replaces epsilon delta
    (fun x => answers (fun c => release c (rows_of part c x)) (each parts)).
Proof.
  intros Row A part parts loss staying release E D N PE PD M P Q LS L L2.
  intros x y [l [r [a [b [-> ->]]]]]. destruct (Nat.eq_dec (part a) (part b)) as [I|I].
  - eapply answers_within; try (intros c; apply M);
      [|now apply (limit_of_parts _ staying _ (part a) (part a)); auto].
    intros c. unfold of_parts. destruct (Nat.eqb_spec c (part a)) as [->|J]; simpl.
    + apply Q. rewrite rows_of_own, I, rows_of_own. repeat eexists.
    + rewrite !rows_of_others by congruence. apply within_same; [apply M | lra..].
  - eapply answers_within; try (intros c; apply M);
      [|now apply (limit_of_parts _ loss _ (part a) (part b)); auto].
    intros c. unfold of_parts. destruct (Nat.eqb_spec c (part a)) as [->|J]; simpl.
    + apply P. rewrite rows_of_own, rows_of_others, rows_of_app by auto. repeat eexists; eauto.
    + rewrite (rows_of_others _ _ c _ a) by auto. destruct (Nat.eqb_spec c (part b)) as [->|K].
      * apply P. rewrite rows_of_own, rows_of_app. repeat eexists; eauto.
      * rewrite rows_of_others by auto. apply within_same; [apply M | simpl; lra..].
Qed.
