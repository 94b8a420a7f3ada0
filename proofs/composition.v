(* How privacy losses add up: post-processing, composition, groups of rows, disjoint parts. *)

From Coq Require Import Reals Lra Lia List Arith.
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

Lemma total_one : forall (A : Type) (dec : forall x y : A, {x = y} + {x <> y}) (f : A -> R) a l,
  NoDup l -> In a l -> total (fun c => if dec c a then f c else 0) l = f a.
Proof.
  induction l as [|c l IH]; intros N I; [easy|]. apply NoDup_cons_iff in N as [O N]. simpl.
  destruct (dec c a) as [->|D]; [|rewrite IH; [ring | easy | destruct I; congruence]].
  rewrite (total_equal _ _ (fun x => 0 * f x)), total_scaled; [ring|].
  intros x J. destruct (dec x a) as [->|]; [easy | ring].
Qed.

Lemma expectation_equal : forall (A : Type) (p : distribution A) f g,
  (forall x, f x = g x) -> expectation p f = expectation p g.
Proof. intros A p f g H. apply total_equal. intros [x w] _. now rewrite H. Qed.

Lemma expectation_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B) f,
  expectation (bind p k) f = expectation p (fun x => expectation (k x) f).
Proof.
  intros A B p k f. unfold expectation, bind. induction p as [|[x w] p IH]; [easy|]; simpl.
  rewrite total_app, IH, total_map, <- total_scaled. f_equal. apply total_equal. intros; simpl; lra.
Qed.

Lemma expectation_certain : forall (A : Type) (x : A) f, expectation (certain x) f = f x.
Proof. intros; unfold expectation; simpl; ring. Qed.

Lemma probability_expected : forall (A : Type) (p : distribution A) e,
  probability p e = expectation p (fun x => if e x then 1 else 0).
Proof. intros. apply total_equal. intros [x w] _. simpl. destruct (e x); ring. Qed.

Lemma probability_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B) e,
  probability (bind p k) e = expectation p (fun x => probability (k x) e).
Proof.
  intros. rewrite probability_expected, expectation_bind. apply expectation_equal. intros.
  now rewrite probability_expected.
Qed.

Lemma expectation_monotone : forall (A : Type) (p : distribution A) f g,
  is_distribution p -> (forall x, f x <= g x) -> expectation p f <= expectation p g.
Proof.
  intros A p f g [H _] L. apply total_monotone. intros [x w] I. apply Rmult_le_compat_l; eauto.
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
  intros A p e [H <-]. split; [apply total_nonnegative | apply total_monotone]; intros [x w] I;
    apply H in I; simpl; destruct (e x); lra.
Qed.

Lemma distribution_certain : forall (A : Type) (x : A), is_distribution (certain x).
Proof. split; simpl; [|ring]. intros y w [E|[]]; inversion E; lra. Qed.

Lemma distribution_bind : forall (A B : Type) (p : distribution A) (k : A -> distribution B),
  is_distribution p -> is_mechanism k -> is_distribution (bind p k).
Proof.
  intros A B p k P K. split.
  - intros y v [[x w] [J I]]%in_flat_map.
    apply in_map_iff in I as [[z u] [E I]]. injection E as <- <-.
    apply Rmult_le_pos; [now apply (proj1 P x) | now apply (proj1 (K x) z)].
  - assert (M : forall C (d : distribution C), total snd d = expectation d (fun _ => 1))
      by (intros; apply total_equal; intros; simpl; ring).
    rewrite M, expectation_bind. transitivity (expectation p (fun _ => 1)).
    + apply expectation_equal. intros x. rewrite <- M. apply K.
    + rewrite <- M. apply P.
Qed.

#[global] Hint Unfold is_mechanism : core.
#[global] Hint Resolve distribution_certain distribution_bind : core.

Lemma within_weaker : forall (A : Type) (p q : distribution A) e d e' d',
  is_distribution q -> e <= e' -> d <= d' -> within e d p q -> within e' d' p q.
Proof.
  intros A p q e d e' d' Q E D H s. specialize (H s). apply exp_monotone in E.
  pose proof (probability_bounds A q s Q). nra.
Qed.

Lemma within_same : forall (A : Type) (p : distribution A) e d,
  is_distribution p -> 0 <= e -> 0 <= d -> within e d p p.
Proof.
  intros A p e d P E D. apply (within_weaker A p p 0 0); auto. intros s. rewrite exp_0. lra.
Qed.

Lemma within_delta : forall (A : Type) (p q : distribution A) e d, within e d p q -> 0 <= d.
Proof.
  intros A p q e d H. specialize (H (fun _ => false)).
  assert (N : forall r : distribution A, probability r (fun _ => false) = 0)
    by (induction r; unfold probability in *; simpl; lra). rewrite !N in H. lra.
Qed.

(* What (epsilon, delta) says of events it says of tests, which accept an outcome x at random, with
   probability f x. *)
Lemma within_tests : forall (A : Type) epsilon delta (p q : distribution A) (f : A -> R),
  within epsilon delta p q -> (forall x, 0 <= f x <= 1) ->
  expectation p f <= exp epsilon * expectation q f + delta.
Proof.
  intros A epsilon delta p q f W F.
  assert (G : forall values g, (forall v, In v values /\ 0 <= g v <= 1 \/ g v = 0 \/ g v = 1) ->
    expectation p (fun x => g (f x)) <= exp epsilon * expectation q (fun x => g (f x)) + delta).
  { induction values as [|w values IH]; intros g H.
    - specialize (W (fun x => if Req_EM_T (g (f x)) 1 then true else false)).
      assert (E : forall x, (if if Req_EM_T (g (f x)) 1 then true else false then 1 else 0)
        = g (f x)) by (intros x; destruct (H (f x)) as [[[] _]|[E|E]], Req_EM_T; lra).
      now rewrite !probability_expected, !(expectation_equal _ _ _ _ E) in W.
    - pose (put t v := if Req_EM_T v w then t else g v).
      assert (L : forall r, expectation r (fun x => g (f x)) = g w
        * expectation r (fun x => put 1 (f x)) + (1 - g w) * expectation r (fun x => put 0 (f x))).
      { intros r. unfold expectation. rewrite <- !total_scaled, <- total_plus. apply total_equal.
        intros x _. unfold put. destruct Req_EM_T as [->|]; ring. }
      assert (P : forall t, t = 0 \/ t = 1 -> forall v,
        In v values /\ 0 <= put t v <= 1 \/ put t v = 0 \/ put t v = 1).
      { intros t T v. unfold put. destruct Req_EM_T; [tauto|].
        destruct (H v) as [[[] ?]|]; [congruence | tauto..]. }
      pose proof (IH _ (P 0 ltac:(auto))). pose proof (IH _ (P 1 ltac:(auto))). rewrite !L.
      assert (0 <= g w <= 1) by (destruct (H w) as [|[]]; lra). nra. }
  pose (values := map (fun xw => f (fst xw)) (p ++ q)).
  pose (g v := if in_dec Req_EM_T v values then v else 0).
  assert (E : forall r, incl r (p ++ q) -> expectation r f = expectation r (fun x => g (f x))).
  { intros r I. apply total_equal. intros x J. unfold g. destruct in_dec as [|O]; [easy|].
    destruct O. apply (in_map (fun xw => f (fst xw))). auto. }
  rewrite !E by auto using incl_appl, incl_appr, incl_refl. apply (G values). intros v. unfold g.
  destruct in_dec as [I|]; [|auto]. left. split; [easy|]. apply in_map_iff in I as [x [<- _]]. auto.
Qed.

(* An answer, and one of a second mechanism that depends on it. *)
Lemma within_bind : forall (A B : Type) e1 d1 e2 d2 (p q : distribution A)
    (k k' : A -> distribution B),
  is_distribution p -> is_distribution q -> is_mechanism k -> is_mechanism k' -> d2 < 1 ->
  within e1 d1 p q -> (forall x, within e2 d2 (k x) (k' x)) ->
  within (e1 + e2) (1 - (1 - d1) * (1 - d2)) (bind p k) (bind q k').
Proof.
  intros A B e1 d1 e2 d2 p q k k' P Q K K' L W1 W2 e. rewrite !probability_bind, exp_plus.
  pose (c := exp e2 / (1 - d2)). pose (h x := Rmin 1 (c * probability (k' x) e)).
  assert (0 < c) as C by (apply Rdiv_lt_0_compat; [apply exp_pos | lra]).
  assert ((1 - d2) * c = exp e2) as D by (unfold c; field; lra).
  assert (forall x, 0 <= h x <= 1 /\ probability (k x) e <= (1 - d2) * h x + d2
    /\ h x <= c * probability (k' x) e + 0) as H.
  { intros x. pose proof (probability_bounds B (k x) e (K x)). pose proof (W2 x e) as W.
    pose proof (probability_bounds B (k' x) e (K' x)). rewrite <- D in W.
    unfold h, Rmin. destruct Rle_dec; repeat split; nra. }
  pose proof (within_tests A e1 d1 p q h W1 (fun x => proj1 (H x))) as Y.
  pose proof (expectation_monotone A p _ _ P (fun x => proj1 (proj2 (H x)))) as U.
  pose proof (expectation_monotone A q _ _ Q (fun x => proj2 (proj2 (H x)))) as V.
  rewrite expectation_linear in U, V by assumption. rewrite <- D.
  apply (Rmult_le_compat_l (1 - d2)) in Y; [|lra].
  apply (Rmult_le_compat_l ((1 - d2) * exp e1)) in V; [|pose proof (exp_pos e1); nra]. lra.
Qed.

Lemma within_post : forall (A B : Type) e d (p q : distribution A) (k : A -> distribution B),
  is_distribution p -> is_distribution q -> is_mechanism k ->
  within e d p q -> within e d (bind p k) (bind q k).
Proof.
  intros A B e d p q k P Q K W.
  replace e with (e + 0) by ring. replace d with (1 - (1 - d) * (1 - 0)) by ring.
  apply within_bind; auto; [lra|]. intros. apply within_same; auto; lra.
Qed.
#[global] Hint Resolve within_post : core.

Lemma within_bind_sum : forall (A B : Type) e1 d1 e2 d2 (p q : distribution A)
    (k k' : A -> distribution B),
  is_distribution p -> is_distribution q -> is_mechanism k -> is_mechanism k' ->
  within e1 d1 p q -> (forall x, within e2 d2 (k x) (k' x)) ->
  within (e1 + e2) (d1 + d2) (bind p k) (bind q k').
Proof.
  intros A B e1 d1 e2 d2 p q k k' P Q K K' W1 W2. pose proof (within_delta _ _ _ _ _ W1).
  assert (0 <= d2) by (destruct P as [_ P], p as [|[x w] p]; simpl in P; [lra|];
    eapply within_delta, (W2 x)).
  assert (D : is_distribution (bind q k')) by auto. destruct (Rlt_dec d2 1).
  - eapply within_weaker; [exact D | apply Rle_refl | | now apply within_bind; eauto]. nra.
  - intros e. pose proof (probability_bounds _ (bind p k) e ltac:(auto)).
    pose proof (probability_bounds _ _ e D). pose proof (exp_pos (e1 + e2)). nra.
Qed.

(* Of dpfast/privacy/composition.py, post_processing: computing anything from an answer alone, with
   fresh randomness or without, costs nothing more. *)
Theorem post_processing : forall (T A B : Type) (neighbors : T -> T -> Prop) epsilon delta
    (mechanism : T -> distribution A) (process : A -> distribution B),
  is_mechanism mechanism -> is_mechanism process ->
  private neighbors epsilon delta mechanism ->
  private neighbors epsilon delta (fun x => bind (mechanism x) process).
Proof. intros T A B N e d m k M K P x y n. apply within_post; auto. Qed.

(* Of dpfast/privacy/composition.py, compose: the second mechanism may depend on the first answer,
   and both are released. The delta is even less than the sum of both. *)
Theorem adaptive_composition : forall (T A B : Type) (neighbors : T -> T -> Prop)
    epsilon1 delta1 epsilon2 delta2
    (first : T -> distribution A) (second : A -> T -> distribution B),
  is_mechanism first -> (forall a, is_mechanism (second a)) -> delta2 < 1 ->
  private neighbors epsilon1 delta1 first ->
  (forall a, private neighbors epsilon2 delta2 (second a)) ->
  private neighbors (epsilon1 + epsilon2) (1 - (1 - delta1) * (1 - delta2))
    (fun x => bind (first x) (fun a => bind (second a x) (fun b => certain (a, b)))).
Proof.
  intros * F S L P1 P2 x y n.
  assert (forall a z, is_distribution (second a z)) by (intros; apply S).
  apply within_bind; auto 9. intros a. apply within_post; auto. now apply P2.
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
Proof. intros Q A r s H. induction s; simpl; auto 9. Qed.
#[global] Hint Resolve distribution_answers : core.

Lemma answers_within : forall (Q A : Type) (r r' : Q -> distribution A) loss s epsilon delta,
  is_mechanism r -> is_mechanism r' ->
  (forall q, within (fst (loss q)) (snd (loss q)) (r q) (r' q)) ->
  within_limit loss s epsilon delta -> within epsilon delta (answers r s) (answers r' s).
Proof.
  intros Q A r r' loss s. induction s as [|q next IH]; simpl; intros e d M M' W L.
  - apply within_same; tauto || auto.
  - replace e with (fst (loss q) + (e - fst (loss q))) by ring.
    replace d with (snd (loss q) + (d - snd (loss q))) by ring. apply within_bind_sum; auto 9.
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
  intros * M P L x y n. apply (answers_within _ _ _ _ loss); auto; intros q; apply M || now apply P.
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
  intros * M P H. apply (budget_is_filter _ _ _ _ _ _ loss); auto.
  assert (G : forall e d, total fst losses <= e -> total snd losses <= d ->
    within_limit loss asks e d); [clear M P|apply G; apply Rle_refl].
  revert losses H. induction asks as [|q next IH]; intros [|[] losses] H; simpl in *; try tauto.
  intros e' d' E D a. apply (IH a losses); [apply H | lra..].
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
  within (INR k * epsilon) (delta * total (fun i => exp (INR i * epsilon)) (seq 0 k))
    (mechanism x) (mechanism y).
Proof.
  intros T A N e d m k. induction k as [|k IH]; intros x y M P H.
  - simpl in H. subst. apply within_same; simpl; auto; lra.
  - destruct H as [z [n H]]. intros s. specialize (IH z y M P H s). pose proof (P x z n s) as Z.
    rewrite <- cons_seq, <- seq_shift. cbn [total]. rewrite total_map.
    rewrite (total_equal _ _ (fun i => exp e * exp (INR i * e))), total_scaled
      by (intros; rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l; ring).
    rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l. change (INR 0) with 0.
    rewrite Rmult_0_l, exp_0. pose proof (exp_pos e). nra.
Qed.

Lemma geometric : forall e k, 0 < e ->
  total (fun i => exp (INR i * e)) (seq 0 k) = (exp (INR k * e) - 1) / (exp e - 1).
Proof.
  intros e k E. assert (1 < exp e) by (rewrite <- exp_0; now apply exp_increasing).
  induction k as [|k IH]; [simpl; rewrite Rmult_0_l, exp_0; field; lra|].
  rewrite seq_S, total_app, IH, S_INR. cbn [total plus].
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
  intros T A N e d m size M E D P x y [k [K H]]. eapply within_weaker, within_steps; eauto.
  - apply Rmult_le_compat_r; [lra | now apply le_INR].
  - unfold Rdiv at 1. rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|]. fold (Rdiv
      (exp (INR size * e) - 1) (exp e - 1)). rewrite <- geometric by easy.
    replace size with (k + (size - k))%nat by lia. rewrite seq_app, total_app.
    pose proof (total_nonnegative _ (fun i => exp (INR i * e)) (seq (0 + k) (size - k))
      (fun i _ => Rlt_le _ _ (exp_pos _))). lra.
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
  replace (1 + exp e) with (total (fun i => exp (INR i * e)) (seq 0 2))
    by (simpl; rewrite Rmult_0_l, exp_0, Rmult_1_l; ring).
  apply (within_steps _ _ add_remove); auto. exists (l ++ r). split; [exists l, r, a; auto|].
  exists (l ++ b :: r). split; [exists l, r, b; auto | easy].
Qed.

(* The rows of one part. The part of a row depends on that row alone; rows may be in no part that
   is asked about. *)
Definition rows_of {Row : Type} (part : Row -> nat) (c : nat) (x : list Row) : list Row :=
  filter (fun row => part row =? c)%nat x.

Lemma rows_of_insert : forall (Row : Type) (part : Row -> nat) c l row r,
  rows_of part c (l ++ row :: r) = if Nat.eq_dec c (part row)
    then rows_of part c l ++ row :: rows_of part c r else rows_of part c (l ++ r).
Proof.
  intros. unfold rows_of. rewrite !filter_app; simpl.
  destruct (Nat.eqb_spec (part row) c), (Nat.eq_dec c (part row)); easy || congruence.
Qed.

(* The losses of questions between two tables that differ in these parts alone. *)
Definition of_parts {Q : Type} (about : Q -> nat) (parts : list nat) (loss : Q -> R * R) (q : Q) :
    R * R :=
  if in_dec Nat.eq_dec (about q) parts then loss q else (0, 0).

Lemma parts_within : forall (Q A : Type) (r r' : Q -> distribution A) about parts loss s e d,
  is_mechanism r -> is_mechanism r' ->
  (forall q, In (about q) parts -> within (fst (loss q)) (snd (loss q)) (r q) (r' q)) ->
  (forall q, ~ In (about q) parts -> r q = r' q) ->
  within_limit (of_parts about parts loss) s e d -> within e d (answers r s) (answers r' s).
Proof.
  intros * M M' W N L. eapply answers_within; eauto. intros q. unfold of_parts.
  destruct in_dec; [auto|]. rewrite N by easy. apply within_same; [apply M' | simpl; lra..].
Qed.

(* Of dpfast/privacy/composition.py, parallel, and dpfast/budget/parallel.py: releases that see one
   part of the rows each cost, under add-remove, the largest sum of losses for one part. *)
Theorem parallel_add_remove : forall (Row Q A : Type) (part : Row -> nat) (about : Q -> nat)
    epsilon delta (loss : Q -> R * R) (release : Q -> list Row -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private add_remove (fst (loss q)) (snd (loss q)) (release q)) ->
  (forall a, within_limit (of_parts about [a] loss) asks epsilon delta) ->
  private add_remove epsilon delta
    (fun x => answers (fun q => release q (rows_of part (about q) x)) asks).
Proof.
  intros * M P L x y [l [r [row S]]].
  apply (parts_within _ _ _ _ about [part row] loss); auto; try (intros q; apply M);
    intros q I; [apply P; exists (rows_of part (about q) l), (rows_of part (about q) r), row|];
    destruct S as [[-> ->]|[-> ->]]; rewrite rows_of_insert; destruct Nat.eq_dec; simpl in I;
    unfold rows_of; rewrite ?filter_app; intuition congruence.
Qed.

(* Of dpfast/privacy/composition.py, parallel: under replace a row may leave a part for another,
   which costs the sums for both parts, or `staying` if the new row is of the same part. *)
Theorem parallel_replace : forall (Row Q A : Type) (part : Row -> nat) (about : Q -> nat)
    epsilon delta (loss staying : Q -> R * R) (release : Q -> list Row -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private add_remove (fst (loss q)) (snd (loss q)) (release q)) ->
  (forall q, private replaces (fst (staying q)) (snd (staying q)) (release q)) ->
  (forall a, within_limit (of_parts about [a] staying) asks epsilon delta) ->
  (forall a b, a <> b -> within_limit (of_parts about [a; b] loss) asks epsilon delta) ->
  private replaces epsilon delta
    (fun x => answers (fun q => release q (rows_of part (about q) x)) asks).
Proof.
  intros * M P S L1 L2 x y [l [r [a [b [-> ->]]]]].
  destruct (Nat.eq_dec (part a) (part b)) as [I|I];
    [apply (parts_within _ _ _ _ about [part a] staying)
    |apply (parts_within _ _ _ _ about [part a; part b] loss)]; auto; try (intros q; apply M);
    intros q J; simpl in J; rewrite !rows_of_insert; unfold rows_of; rewrite ?filter_app.
  - apply S. exists (rows_of part (about q) l), (rows_of part (about q) r), a, b.
    do 2 destruct Nat.eq_dec; intuition congruence.
  - do 2 destruct Nat.eq_dec; intuition congruence.
  - apply P. exists (rows_of part (about q) l), (rows_of part (about q) r).
    do 2 destruct Nat.eq_dec; [congruence | exists a | exists b |]; intuition congruence.
  - do 2 destruct Nat.eq_dec; intuition congruence.
Qed.

(* Of dpfast/budget/parallel.py: under replace, questions about one part each whose losses hold if
   any row is replaced cost the sums for two parts. The number of rows is public. *)
Theorem parallel_budget_replace : forall (Row Q A : Type) (part : Row -> nat) (about : Q -> nat)
    epsilon delta (loss : Q -> R * R) (release : Q -> list Row -> distribution A)
    (asks : analyst Q A),
  (forall q, is_mechanism (release q)) ->
  (forall q, private replaces (fst (loss q)) (snd (loss q)) (release q)) ->
  (forall q x y, rows_of part (about q) x = rows_of part (about q) y -> length x = length y ->
    release q x = release q y) ->
  (forall a b, within_limit (of_parts about [a; b] loss) asks epsilon delta) ->
  private replaces epsilon delta (fun x => answers (fun q => release q x) asks).
Proof.
  intros * M P L W x y [l [r [a [b [-> ->]]]]].
  apply (parts_within _ _ _ _ about [part a; part b] loss); auto; try (intros q; apply M);
    intros q J; [apply P; now exists l, r, a, b|]. apply L; [|now rewrite !app_length].
  rewrite !rows_of_insert. simpl in J. do 2 destruct Nat.eq_dec; intuition congruence.
Qed.

(* Two parts, with a release of loss 1 about the first, and of loss 3 about the second. *)
Example two_parts : let loss q := (if Nat.eq_dec q 0 then 1 else 3, 0) in
  let asks := Ask 0%nat (fun _ : bool => Ask 1%nat (fun _ => Stop)) in
  (forall a, within_limit (of_parts (fun q => q) [a] loss) asks 3 0)
  /\ (forall a b, a <> b -> within_limit (of_parts (fun q => q) [a; b] loss) asks 4 0)
  /\ ~ within_limit (of_parts (fun q => q) [0; 1]%nat loss) asks 3 0.
Proof.
  unfold of_parts. split; [|split]; [intros a _ _; simpl | intros a b _ _ _ | intros H].
  - destruct (Nat.eq_dec a 0), (Nat.eq_dec a 1); try congruence; simpl; lra.
  - do 2 destruct in_dec; simpl; lra.
  - specialize (H true true). simpl in H. lra.
Qed.

(* w^a, where 0^a is 0. *)
Definition power (w a : R) : R := if Rlt_dec 0 w then Rpower w a else 0.

(* rho-zCDP of two distributions: the Renyi divergence of each order a > 1 is at most rho a. It is
   the logarithm of this sum, divided by a - 1. *)
Definition concentrated {A : Type} (rho : R) (outcomes : list A) (p q : A -> R) : Prop :=
  (forall x, In x outcomes -> 0 <= p x /\ 0 <= q x /\ (q x = 0 -> p x = 0)) /\
  forall a, 1 < a ->
    total (fun x => power (p x) a * power (q x) (1 - a)) outcomes <= exp ((a - 1) * (rho * a)).

Lemma power_product : forall v w a, 0 <= v -> 0 <= w -> power (v * w) a = power v a * power w a.
Proof.
  intros v w a V W. unfold power.
  destruct (Rlt_dec 0 v), (Rlt_dec 0 w), (Rlt_dec 0 (v * w)); try nra.
  now rewrite Rpower_mult_distr.
Qed.

(* Of dpfast/privacy/losses.py, ZCDP, and composition.py, compose: rho adds up, and the second
   mechanism may depend on the first answer. *)
Theorem zcdp_composition : forall (A B : Type) rho1 rho2 (xs : list A) (ys : list B)
    (p q : A -> R) (k k' : A -> B -> R),
  concentrated rho1 xs p q -> (forall x, In x xs -> concentrated rho2 ys (k x) (k' x)) ->
  concentrated (rho1 + rho2) (list_prod xs ys)
    (fun xy => p (fst xy) * k (fst xy) (snd xy)) (fun xy => q (fst xy) * k' (fst xy) (snd xy)).
Proof.
  intros A B rho1 rho2 xs ys p q k k' [P M] K. split.
  - intros [x y] I. apply in_prod_iff in I as [I J]. specialize (P x I).
    destruct (proj1 (K x I) y J) as [K1 [K2 K3]]. simpl. repeat split; nra.
  - intros a L. assert (forall f : A * B -> R, total f (list_prod xs ys)
      = total (fun x => total (fun y => f (x, y)) ys) xs) as T
      by (clear; induction xs; intros; simpl; [easy | now rewrite total_app, total_map, IHxs]).
    rewrite T. replace ((a - 1) * ((rho1 + rho2) * a))
      with ((a - 1) * (rho2 * a) + (a - 1) * (rho1 * a)) by ring. rewrite exp_plus.
    eapply Rle_trans; [|apply Rmult_le_compat_l, M, L; left; apply exp_pos].
    rewrite <- total_scaled. apply total_monotone. intros x I. destruct (P x I) as [P1 [P2 _]].
    rewrite (total_equal _ _ (fun y => power (p x) a * power (q x) (1 - a)
      * (power (k x y) a * power (k' x y) (1 - a)))), total_scaled, Rmult_comm.
    + apply Rmult_le_compat_r; [|now apply K]. unfold power, Rpower.
      repeat destruct Rlt_dec; try lra; apply Rmult_le_pos; left; apply exp_pos.
    + intros y J. destruct (proj1 (K x I) y J) as [K1 [K2 _]]. simpl.
      rewrite !power_product by easy. ring.
Qed.
