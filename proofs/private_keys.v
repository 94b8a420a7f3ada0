(* Partition selection: the optimal rule to show a private key, and several keys of a person. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import distributions composition.
Import ListNotations.
Open Scope R_scope.

(* The rule: a key of n people is shown with probability pi n. *)
Fixpoint pi (epsilon delta : R) (n : nat) : R :=
  match n with
  | O => 0
  | S m =>
      Rmin (Rmin (exp epsilon * pi epsilon delta m + delta)
        (1 - exp (- epsilon) * (1 - pi epsilon delta m - delta))) 1
  end.

(* Whether a key is shown. *)
Definition coin (p : R) : distribution bool := [(true, p); (false, 1 - p)].

(* A person comes or goes. *)
Definition one_person (n m : nat) : Prop := m = S n \/ n = S m.

Lemma distribution_coin : forall p, 0 <= p <= 1 -> is_distribution (coin p).
Proof. intros p P. split; [|simpl; ring]. intros x w [E|[E|[]]]; inversion E; lra. Qed.

(* What privacy says of p and q, of which the second is the probability with one person more. *)
Lemma within_coins : forall e d p q, 0 <= e -> 0 <= d -> 0 <= p <= 1 -> 0 <= q <= 1 ->
  let most := Rmin (exp e * p + d) (1 - exp (- e) * (1 - p - d)) in
  (within e d (coin p) (coin q) -> within e d (coin q) (coin p) -> q <= most) /\
  (p <= q <= most -> within e d (coin p) (coin q) /\ within e d (coin q) (coin p)).
Proof.
  intros e d p q E D P Q most. pose proof (exp_ineq1_le e) as X. pose proof (exp_pos (- e)) as Y.
  assert (I : forall v, exp (- e) * (exp e * v) = v)
    by (intros; rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0; ring).
  split; [intros W V | intros [L M]].
  - specialize (W negb). specialize (V (fun b => b)). unfold probability in *. simpl in *.
    assert (exp (- e) * (1 - p - d) <= exp (- e) * (exp e * (1 - q)))
      by (apply Rmult_le_compat_l; lra). rewrite I in *. apply Rmin_glb; lra.
  - assert (T := Rle_trans _ _ _ M (Rmin_l _ _)). assert (F := Rle_trans _ _ _ M (Rmin_r _ _)).
    assert (exp e * (exp (- e) * (1 - p - d)) <= exp e * (1 - q))
      by (apply Rmult_le_compat_l; lra). specialize (I (1 - p - d)).
    split; intros s; unfold probability; simpl; destruct (s true), (s false); nra.
Qed.

Lemma pi_step : forall e d n, 0 <= e -> 0 <= d ->
  0 <= pi e d n <= pi e d (S n) /\ pi e d (S n) <= 1.
Proof.
  intros e d n E D. pose proof (exp_pos (- e)) as Y.
  assert (exp (- e) <= 1 <= exp e) by (rewrite <- exp_0; split; apply exp_monotone; lra).
  assert (G : forall p, 0 <= p <= 1 ->
    p <= Rmin (Rmin (exp e * p + d) (1 - exp (- e) * (1 - p - d))) 1 <= 1)
    by (intros; split; [repeat apply Rmin_glb; nra | apply Rmin_r]).
  assert (B : 0 <= pi e d n <= 1).
  { induction n as [|n IH]; [simpl; lra|]. specialize (G _ IH). simpl. lra. }
  specialize (G _ B). simpl. lra.
Qed.

(* Of dpfast/selection/key_selection.py: a key is shown more likely with more people, and never if
   nobody has it. *)
Theorem pi_grows : forall epsilon delta n, 0 <= epsilon -> 0 <= delta ->
  pi epsilon delta 0 = 0 /\ pi epsilon delta n <= pi epsilon delta (S n) <= 1.
Proof. intros e d n E D. pose proof (pi_step e d n E D). simpl (pi e d 0). lra. Qed.

(* Of dpfast/selection/key_selection.py: a key that is shown by the rule is (epsilon, delta)-DP. *)
Theorem pi_is_private : forall epsilon delta, 0 <= epsilon -> 0 <= delta ->
  private one_person epsilon delta (fun n => coin (pi epsilon delta n)).
Proof.
  intros e d E D.
  assert (G : forall n, within e d (coin (pi e d n)) (coin (pi e d (S n)))
    /\ within e d (coin (pi e d (S n))) (coin (pi e d n))).
  { intros n. pose proof (pi_step e d n E D). apply within_coins; try lra.
    split; [lra | apply Rmin_l]. }
  intros n m [->| ->]; apply G.
Qed.

(* Of dpfast/selection/key_selection.py: of all rules that depend on a key's number of people alone
   and never show a key that nobody has, none shows any key more often. *)
Theorem pi_is_optimal : forall epsilon delta (rule : nat -> R), 0 <= epsilon -> 0 <= delta ->
  (forall n, 0 <= rule n <= 1) -> rule 0%nat = 0 ->
  private one_person epsilon delta (fun n => coin (rule n)) ->
  forall n, rule n <= pi epsilon delta n.
Proof.
  intros e d rule E D B Z P n. assert (1 <= exp e) by (rewrite <- exp_0; now apply exp_monotone).
  pose proof (exp_pos (- e)). induction n as [|n IH]; [simpl; lra|].
  pose proof (proj1 (within_coins e d _ _ E D (B n) (B (S n))) (P n (S n) ltac:(now left))
    (P (S n) n ltac:(now right))) as M. revert M. simpl. unfold Rmin at 1.
  destruct Rle_dec; intros M; repeat apply Rmin_glb; try apply B; nra.
Qed.

Lemma pi_limits : forall e d n, 0 < e -> 0 <= d <= 1 ->
  ((exp e + 1) * pi e d n <= 1 - d -> pi e d (S n) = exp e * pi e d n + d) /\
  (1 - d <= (exp e + 1) * pi e d n ->
    pi e d (S n) = Rmin (1 - exp (- e) * (1 - pi e d n - d)) 1).
Proof.
  intros e d n E D. assert (1 < exp e) as X by (rewrite <- exp_0; now apply exp_increasing).
  pose proof (exp_pos (- e)). simpl. set (p := pi e d n).
  assert (1 - exp (- e) * (1 - p - d) - (exp e * p + d)
    = exp (- e) * (exp e - 1) * (1 - d - (exp e + 1) * p)) as Q by (rewrite exp_Ropp; field; lra).
  assert (0 <= exp (- e) * (exp e - 1)) as U by (apply Rmult_le_pos; lra).
  split; intros L; [|f_equal; apply Rmin_right; nra].
  rewrite (Rmin_left (exp e * p + d)), Rmin_left; [easy | nra..].
Qed.

(* Of dpfast/selection/key_selection.py: pi in closed form, with s = delta / (e^epsilon - 1). The
   first limit holds up to n1 + 1 people (n1 is a logarithm over epsilon, rounded down), then the
   second one does, and pi is 1 from where e^(m epsilon) is at least 1 + (e^epsilon - 1) / delta. *)
Theorem pi_in_closed_form : forall epsilon delta n1, 0 < epsilon -> 0 < delta <= 1 ->
  let s := delta / (exp epsilon - 1) in
  let corner := (exp epsilon + 2 * delta - 1) / ((exp epsilon + 1) * delta) in
  let low n := s * (exp (INR n * epsilon) - 1) in
  exp (INR n1 * epsilon) <= corner <= exp (INR (S n1) * epsilon) ->
  (forall n, (n <= S n1)%nat -> pi epsilon delta n = low n) /\
  (forall m, pi epsilon delta (S n1 + m)
    = Rmin (1 + s - exp (- (INR m * epsilon)) * (1 + s - low (S n1))) 1) /\
  (forall m, 1 + (exp epsilon - 1) / delta <= exp (INR m * epsilon) ->
    pi epsilon delta (S n1 + m) = 1).
Proof.
  intros e d n1 E D s corner low [C1 C2].
  assert (1 < exp e) as X by (rewrite <- exp_0; now apply exp_increasing).
  assert (V : forall v, exp v * exp (- v) = 1)
    by (intros; rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (I := V e). pose proof (exp_pos (- e)) as Pe.
  assert (0 < s) as S0 by (apply Rdiv_lt_0_compat; lra).
  assert (s * (exp e - 1) = d) as Sd by (unfold s; field; lra).
  assert ((exp e + 1) * s * (corner - 1) = 1 - d) as Cd by (unfold corner, s; field; lra).
  assert (P : forall n, exp (INR (S n) * e) = exp (INR n * e) * exp e)
    by (intros n; now rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l).
  assert (F : forall n, (n <= S n1)%nat -> pi e d n = low n).
  { intros n. unfold low. induction n as [|n IH]; intros L; [simpl; rewrite Rmult_0_l, exp_0; lra|].
    assert (exp (INR n * e) <= exp (INR n1 * e))
      by (apply exp_monotone, Rmult_le_compat_r; [lra | apply le_INR; lia]).
    rewrite (proj1 (pi_limits e d n E ltac:(lra))), IH by (rewrite ?IH by lia; nra || lia).
    rewrite P, <- Sd. ring. }
  assert (G : forall m, low (S n1) <= pi e d (S n1 + m)).
  { induction m as [|m IH]; [rewrite Nat.add_0_r, F; [lra | lia]|].
    rewrite Nat.add_succ_r. destruct (pi_step e d (S n1 + m)); lra. }
  assert (H : forall m, pi e d (S n1 + m)
    = Rmin (1 + s - exp (- (INR m * e)) * (1 + s - low (S n1))) 1).
  { destruct (pi_step e d n1) as [B B']; try lra. rewrite F in B, B' by lia. induction m as [|m IH].
    - rewrite Nat.add_0_r, F by lia. simpl (INR 0).
      rewrite Rmult_0_l, Ropp_0, exp_0, Rmin_left; lra.
    - rewrite Nat.add_succ_r, (proj2 (pi_limits e d (S n1 + m) E ltac:(lra)))
        by (specialize (G m); unfold low in G; nra).
      rewrite IH, S_INR, Rmult_plus_distr_r, Ropp_plus_distr, exp_plus, Rmult_1_l.
      set (y := exp (- (INR m * e))) in *. set (w := 1 + s - low (S n1)) in *.
      unfold Rmin at 2. destruct Rle_dec.
      + f_equal. nra.
      + rewrite !Rmin_right; nra. }
  split; [exact F|]. split; [exact H|]. intros m M. rewrite H. apply Rmin_right.
  pose proof (V (INR m * e)) as K. pose proof (exp_pos (- (INR m * e))) as Y.
  set (y := exp (- (INR m * e))) in *.
  assert (s * (1 + (exp e - 1) / d) = 1 + s) as T by (unfold s; field; lra).
  apply (Rmult_le_compat_l s) in M; [|lra]. rewrite T in M. destruct (pi_step e d n1); try lra.
  rewrite <- (F (S n1)) by lia. nra.
Qed.

(* A person has several keys. The number of people with key k: *)
Definition people_of (k : nat) (people : list (list nat)) : nat :=
  length (filter (existsb (Nat.eqb k)) people).

(* Which keys are shown, by one coin for each key that there may be. *)
Definition each (keys : list nat) : analyst nat bool :=
  fold_right (fun k next => Ask k (fun _ => next)) Stop keys.
Definition shown (keys : list nat) (rule : nat -> R) (people : list (list nat)) :
    distribution (list bool) :=
  answers (fun k => coin (rule (people_of k people))) (each keys).

Lemma people_of_insert : forall k l person r, people_of k (l ++ person :: r)
  = ((if existsb (Nat.eqb k) person then 1 else 0) + people_of k (l ++ r))%nat.
Proof.
  intros. unfold people_of. rewrite !filter_app, !app_length; simpl. destruct existsb; simpl; lia.
Qed.

Lemma mechanism_pi : forall e d people, 0 <= e -> 0 <= d ->
  is_mechanism (fun k => coin (pi e d (people_of k people))).
Proof.
  intros e d people E D k. apply distribution_coin.
  destruct (pi_step e d (people_of k people)); lra.
Qed.

(* At most t keys have one person more or less. *)
Lemma within_shown : forall e d x y, 0 <= e -> 0 <= d < 1 ->
  (forall k, people_of k x = people_of k y \/ one_person (people_of k x) (people_of k y)) ->
  forall keys t, (length (filter (fun k => negb (people_of k x =? people_of k y)) keys) <= t)%nat ->
  within (INR t * e) (1 - (1 - d) ^ t) (shown keys (pi e d) x) (shown keys (pi e d) y).
Proof.
  intros e d x y E D H. assert (C := fun z => mechanism_pi e d z E (proj1 D)).
  assert (W : forall keys k t e1 d1,
    within (INR t * e) (1 - (1 - d) ^ t) (shown keys (pi e d) x) (shown keys (pi e d) y) ->
    within e1 d1 (coin (pi e d (people_of k x))) (coin (pi e d (people_of k y))) ->
    within (e1 + INR t * e) (1 - (1 - d1) * (1 - (1 - (1 - d) ^ t)))
      (shown (k :: keys) (pi e d) x) (shown (k :: keys) (pi e d) y)).
  { intros keys k t e1 d1 IH W. assert (0 < (1 - d) ^ t) by (apply pow_lt; lra).
    apply within_bind; try apply C; auto 9; lra || (intros; apply within_post; auto). }
  induction keys as [|k keys IH]; intros t L; simpl in L.
  - assert ((1 - d) ^ t <= 1) by (rewrite <- (pow1 t) at 2; apply pow_incr; lra).
    apply within_same; [apply distribution_answers, C | apply Rmult_le_pos; [apply pos_INR | lra]|].
    lra.
  - destruct (Nat.eqb_spec (people_of k x) (people_of k y)) as [Q|Q]; simpl in L.
    + replace (INR t * e) with (0 + INR t * e) by ring.
      replace (1 - _) with (1 - (1 - 0) * (1 - (1 - (1 - d) ^ t))) by ring.
      apply W; [now apply IH|]. rewrite Q. apply within_same; [apply C | lra..].
    + destruct t as [|t]; [lia|]. rewrite S_INR. replace (_ * e) with (e + INR t * e) by ring.
      replace (_ - _) with (1 - (1 - d) * (1 - (1 - (1 - d) ^ t))) by (simpl; ring).
      apply W; [apply IH; lia|]. destruct (H k); [easy|]. apply pi_is_private; auto; lra.
Qed.

(* Of dpfast/selection/key_selection.py, equal parts: with epsilon / t and 1 - (1 - delta)^(1 / t)
   for each key, all keys together lose no more than (epsilon, delta). If a person has at most L
   keys, t is L under add-remove, and 2 L under replace. *)
Theorem equal_parts : forall epsilon delta d t most keys,
  NoDup keys -> 0 <= epsilon -> 0 <= d < 1 -> (0 < t)%nat -> 1 - delta <= (1 - d) ^ t ->
  let bounded people := forall person, In person people -> (length person <= most)%nat in
  let mechanism := shown keys (pi (epsilon / INR t) d) in
  (t = most ->
    private (fun x y => bounded x /\ bounded y /\ add_remove x y) epsilon delta mechanism) /\
  (t = 2 * most ->
    private (fun x y => bounded x /\ bounded y /\ replaces x y) epsilon delta mechanism)%nat.
Proof.
  intros e delta d t most keys N E D T L bounded mechanism.
  assert (0 < INR t) as I by now apply lt_0_INR.
  assert (E' : 0 <= e / INR t) by now apply Rle_mult_inv_pos.
  assert (G : forall x y touched, (length touched <= t)%nat ->
    (forall k, people_of k x = people_of k y \/ In k touched
      /\ one_person (people_of k x) (people_of k y)) -> within e delta (mechanism x) (mechanism y)).
  { intros x y touched LT H.
    apply (within_weaker _ _ _ (INR t * (e / INR t)) (1 - (1 - d) ^ t));
      [apply distribution_answers, mechanism_pi; lra | right; field; lra | lra |].
    apply within_shown; auto; [intros k; destruct (H k); tauto|].
    eapply Nat.le_trans; [|exact LT]. apply NoDup_incl_length; [now apply NoDup_filter|].
    intros k [_ J]%filter_In. destruct (H k) as [Q|[Q _]]; [|easy].
    rewrite Q, Nat.eqb_refl in J. discriminate. }
  assert (F : forall k a, existsb (Nat.eqb k) a = true -> In k a)
    by (intros k a H; apply existsb_exists in H as [k' [J H]]; apply Nat.eqb_eq in H; now subst).
  split; intros -> x y [X [Y S]].
  - destruct S as [l [r [a S]]]. apply (G x y a).
    + destruct S as [[-> _]|[_ ->]]; [apply X | apply Y]; apply in_elt.
    + intros k. unfold one_person. destruct S as [[-> ->]|[-> ->]]; rewrite people_of_insert;
        destruct existsb eqn:Q; simpl; auto.
  - destruct S as [l [r [a [b [-> ->]]]]]. apply (G _ _ (a ++ b)).
    + rewrite app_length. specialize (X a (in_elt _ _ _)). specialize (Y b (in_elt _ _ _)). lia.
    + intros k. unfold one_person. rewrite !people_of_insert, in_app_iff.
      destruct (existsb _ a) eqn:Q, (existsb _ b) eqn:Q'; simpl; auto.
Qed.

(* A person with two keys of two, each key with e^epsilon = 2 and d = 1/4. *)
Example two_keys : let mechanism := shown [5; 7]%nat (pi (ln 4 / INR 2) (1 / 4)) in
  within (ln 4) (7 / 16) (mechanism [[5; 7]]%nat) (mechanism []).
Proof.
  assert (0 < ln 4) by (rewrite <- ln_1; apply ln_increasing; lra).
  eapply (proj1 (equal_parts (ln 4) (7 / 16) (1 / 4) 2 2 [5; 7]%nat ltac:(repeat constructor;
    simpl; lia) ltac:(lra) ltac:(lra) ltac:(lia) ltac:(lra)) eq_refl).
  repeat split; [intros p [<-|[]]; simpl; lia | easy | exists [], [], [5; 7]%nat; now left].
Qed.
