(* The linear algorithm for the smooth sensitivity of an order statistic: an upper envelope. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import order_statistics smooth_replace.
Import ListNotations.
Open Scope R_scope.

Section Algorithm.
(* The value of each rank, rank 0 being the lower bound and rank n + 1 the upper one. *)
Variables (beta : R) (x : nat -> R).

(* Where column j' overtakes column j < j': x_j - (x_j' - x_j) / (e^(beta (j' - j)) - 1). *)
Definition turn (j j' : nat) : R := x j - (x j' - x j) / (exp (beta * INR (j' - j)) - 1).

(* Columns leave the top of the stack, which is the head of the list, when column c overtakes the
   top before the top overtakes the column below it. *)
Fixpoint pop (c : nat) (stack : list nat) : list nat :=
  match stack with
  | b :: (a :: _) as rest => if Rle_dec (turn b c) (turn a b) then pop c rest else stack
  | _ => stack
  end.

(* A column that overtakes the top of the stack only from x_m on is left out. *)
Definition push (m : nat) (stack : list nat) (c : nat) : list nat :=
  match stack with
  | [] => [c]
  | top :: _ => if Rle_dec (x m) (turn top c) then stack else c :: pop c stack
  end.

(* The columns m .. n + 1 that are somewhere the best, from the bottom of the stack. *)
Definition columns (n m : nat) : list nat := rev (fold_left (push m) (seq m (n + 2 - m)) []).

(* The pointer moves on while the next column is not below the present one at v. *)
Fixpoint advance (v : R) (cols : list nat) : list nat :=
  match cols with
  | p :: (q :: _) as rest => if Rle_dec (turn p q) v then advance v rest else cols
  | _ => cols
  end.

(* Each row i takes the column where the pointer stops; the next row starts from there. *)
Fixpoint rows (ranks cols : list nat) (best : R) : R :=
  match ranks with
  | [] => best
  | i :: ranks' =>
      let cols' := advance (x i) cols in
      let j := hd 0%nat cols' in
      rows ranks' cols' (if i <? j then Rmax best (pair_value beta x i j) else best)
  end.

Definition envelope (n m : nat) : R := rows (seq 0 (m + 1)) (columns n m) 0.
End Algorithm.

Section Exact.
Variables (beta : R) (x : nat -> R) (m : nat).
Hypothesis rate : 0 < beta.

Notation turn := (turn beta x).
Notation pop := (pop beta x).
Notation push := (push beta x m).
Notation advance := (advance beta x).
Notation rows := (rows beta x).

(* A column's values, but for the factor e^(beta (i + 1)) of the row, are on a line. *)
Definition line (j : nat) (v : R) : R := (x j - v) * exp (- beta * INR j).

Lemma lines_differ : forall a b, (a < b)%nat ->
  exists slope, 0 < slope /\ forall v, line b v - line a v = slope * (v - turn a b).
Proof.
  intros a b H. exists (exp (- beta * INR a) - exp (- beta * INR b)). unfold line, envelope.turn.
  assert (E : exp (- beta * INR a) = exp (beta * INR (b - a)) * exp (- beta * INR b))
    by (rewrite <- exp_plus, minus_INR by lia; f_equal; ring). assert (L : 0 < beta * INR (b - a))
    by (apply Rmult_lt_0_compat; [exact rate|apply lt_0_INR; lia]).
  pose proof (exp_ineq1 _ (Rgt_not_eq _ _ L)). pose proof (exp_pos (- beta * INR b)). rewrite E.
  set (w := exp (beta * INR (b - a))) in *. split; [nra|]. intros v. field. lra. Qed.
Lemma turn_after : forall a b v, (a < b)%nat -> turn a b <= v -> line a v <= line b v.
Proof. intros a b v H Hv. destruct (lines_differ a b H) as (k & Hk & E). specialize (E v). nra. Qed.
Lemma turn_before : forall a b v, (a < b)%nat -> v <= turn a b -> line b v <= line a v.
Proof. intros a b v H Hv. destruct (lines_differ a b H) as (k & Hk & E). specialize (E v). nra. Qed.

(* The highest of some columns at v, and of 0. *)
Definition top (cols : list nat) (v : R) : R := greatest (map (fun j => line j v) cols).

Lemma top_incl : forall cols cols' v, incl cols cols' -> top cols v <= top cols' v.
Proof. intros. now apply greatest_subset, incl_map. Qed.
Lemma top_cons : forall c cols v, line c v <= top (c :: cols) v /\ top cols v <= top (c :: cols) v.
Proof. intros. split; [apply Rmax_l|apply Rmax_r]. Qed.

(* What holds of the stack: ranks and turns ascend from the bottom. *)
Fixpoint stacked (stack : list nat) : Prop :=
  match stack with
  | c :: (b :: rest) as l =>
      (b < c)%nat /\ match rest with a :: _ => turn a b < turn b c | [] => True end /\ stacked l
  | _ => True
  end.

Lemma pop_correct : forall c stack, stacked stack -> Forall (fun s => (s < c)%nat) stack ->
  stacked (c :: pop c stack) /\ incl (pop c stack) stack /\
  forall v, top (c :: stack) v <= top (c :: pop c stack) v.
Proof. intros c. induction stack as [|b [|a rest] IH]; intros Hs Hc.
  - repeat split; auto using incl_refl, Rle_refl.
  - apply Forall_inv in Hc. repeat split; auto using incl_refl, Rle_refl.
  - destruct Hs as (Hab & Ht & Hs). apply Forall_cons_iff in Hc. destruct Hc as [Hbc Hc].
    change (pop c (b :: a :: rest)) with
      (if Rle_dec (turn b c) (turn a b) then pop c (a :: rest) else b :: a :: rest).
    destruct (Rle_dec (turn b c) (turn a b)) as [H|H].
    + destruct (IH Hs Hc) as (I1 & I2 & I3). split; [exact I1|]. split; [now apply incl_tl|].
      intros v. apply Rle_trans with (2 := I3 v). destruct (top_cons a rest v) as [A1 A2].
      destruct (top_cons c (a :: rest) v) as [C1 C2]. apply Rmax_lub; [exact C1|].
      apply Rmax_lub; [|exact C2]. destruct (Rle_lt_dec v (turn a b)) as [Hv|Hv];
      [pose proof (turn_before a b v Hab Hv)|pose proof (turn_after b c v Hbc ltac:(lra))]; lra.
    + repeat split; auto using incl_refl, Rle_refl; lra. Qed.
Lemma push_correct : forall c stack, stacked stack -> Forall (fun s => (s < c)%nat) stack ->
  stacked (push stack c) /\ push stack c <> [] /\ incl (push stack c) (c :: stack) /\
  forall v, v <= x m -> top (c :: stack) v <= top (push stack c) v.
Proof. intros c [|b stack] Hs Hc; [repeat split; auto using incl_refl, Rle_refl; easy|].
  unfold envelope.push. destruct (Rle_dec (x m) (turn b c)) as [H|H].
  - repeat split; auto using incl_tl, incl_refl; [easy|]. intros v Hv.
    apply Rmax_lub; [|apply Rle_refl]. destruct (top_cons b stack v) as [B _].
    apply Rle_trans with (2 := B), turn_before; [now apply Forall_inv in Hc|lra].
  - destruct (pop_correct c (b :: stack) Hs Hc) as (H1 & H2 & H3).
    repeat split; auto; [easy|]. apply incl_cons; [now left|now apply incl_tl]. Qed.
Lemma columns_stacked : forall k, let stack := fold_left push (seq m (S k)) [] in
  stacked stack /\ stack <> [] /\ incl stack (seq m (S k)) /\
  forall v, v <= x m -> top (seq m (S k)) v <= top stack v.
Proof. induction k as [|k (I1 & _ & I2 & I3)]; [now repeat split; auto using incl_refl, Rle_refl|].
  cbv zeta. rewrite (seq_S (S k)), fold_left_app.
  set (stack := fold_left push (seq m (S k)) []) in *.
  destruct (push_correct (m + S k) stack I1) as (H1 & H2 & H3 & H4).
  { apply Forall_forall. intros s Q. apply I2, in_seq in Q. lia. }
  repeat split; trivial.
  - apply incl_tran with (1 := H3), incl_cons; [apply in_elt|now apply incl_appl].
  - intros v Hv. apply Rle_trans with (2 := H4 v Hv).
    destruct (top_cons (m + S k) stack v) as [C1 C2].
    apply greatest_below; [apply greatest_nonnegative|]. intros u Hu. rewrite map_app in Hu.
    apply in_app_or in Hu. destruct Hu as [Hu|[<-|[]]]; [|exact C1].
    apply Rle_trans with (2 := C2), Rle_trans with (2 := I3 v Hv). now apply greatest_above. Qed.

(* The same of the columns from the bottom on. *)
Fixpoint chain (cols : list nat) : Prop :=
  match cols with
  | p :: (q :: rest) as l =>
      (p < q)%nat /\ match rest with r :: _ => turn p q < turn q r | [] => True end /\ chain l
  | _ => True
  end.

Lemma chain_reversed : forall stack c above, stacked (c :: stack) -> chain (c :: above) ->
  match stack, above with b :: _, d :: _ => turn b c < turn c d | _, _ => True end ->
  chain (rev_append stack (c :: above)).
Proof. induction stack as [|b stack IH]; intros c above Hs Hc Hj; [exact Hc|].
  destruct Hs as (Hbc & Ht & Hs). apply IH; [exact Hs|now repeat split|exact Ht]. Qed.
Lemma chain_first : forall rest p q v, chain (p :: q :: rest) -> v <= turn p q ->
  top (p :: q :: rest) v <= Rmax (line p v) 0.
Proof. induction rest as [|r rest IH]; intros p q v (Hpq & Ht & Hc) Hv;
  pose proof (turn_before p q v Hpq Hv); (apply Rmax_lub; [apply Rmax_l|]).
  - now apply Rle_max_compat_r.
  - apply Rle_trans with (Rmax (line q v) 0); [apply IH; trivial; lra|now apply Rle_max_compat_r].
Qed.
Lemma advance_correct : forall v cols, chain cols -> cols <> [] ->
  let rest := advance v cols in chain rest /\ rest <> [] /\ incl rest cols /\ (forall u, v <= u ->
  top cols u <= top rest u) /\ top rest v <= Rmax (line (hd 0%nat rest) v) 0.
Proof. intros v. induction cols as [|p [|q rest] IH]; intros Hc Hn; [easy| |].
  - repeat split; auto using incl_refl, Rle_refl.
  - change (advance v (p :: q :: rest)) with
      (if Rle_dec (turn p q) v then advance v (q :: rest) else p :: q :: rest).
    destruct (Rle_dec (turn p q) v) as [H|H].
    + destruct Hc as (Hpq & Ht & Hc). destruct (IH Hc) as (I1 & I2 & I3 & I4 & I5); [easy|].
      repeat split; auto using incl_tl. intros u Hu. apply Rle_trans with (2 := I4 u Hu).
      apply Rmax_lub; [|apply Rle_refl]. destruct (top_cons q rest u) as [Q _].
      apply Rle_trans with (2 := Q), turn_after; [exact Hpq|lra].
    + do 4 (split; [auto using incl_refl, Rle_refl|]). apply chain_first; [exact Hc|simpl; lra].
Qed.
Lemma rows_above : forall ranks cols best, best <= rows ranks cols best.
Proof. induction ranks as [|i ranks IH]; intros cols best; simpl; [lra|].
  apply Rle_trans with (2 := IH _ _). destruct (i <? _); [apply Rmax_l|lra]. Qed.
(* No more than the greatest pair. *)
Lemma rows_below : forall most ranks cols best, chain cols -> cols <> [] -> best <= most ->
  (forall i j, In i ranks -> In j cols -> (i < j)%nat -> pair_value beta x i j <= most) ->
  rows ranks cols best <= most.
Proof.
  intros most. induction ranks as [|i ranks IH]; intros cols best Hc Hn Hb H; simpl; [exact Hb|].
  destruct (advance_correct (x i) cols Hc Hn) as (H1 & H2 & H3 & _).
  apply IH; auto; [|intros i' j' Hi Hj; apply H; [now right|now apply H3]].
  destruct (Nat.ltb_spec i (hd 0%nat (advance (x i) cols))) as [L|L]; [|exact Hb].
  apply Rmax_lub; [exact Hb|]. apply H; [now left| |exact L].
  apply H3. destruct (advance (x i) cols); [easy|now left]. Qed.
Lemma pair_on_line : forall i j, (i < j)%nat ->
  pair_value beta x i j = line j (x i) * exp (beta * INR (i + 1)).
Proof. intros i j H. unfold pair_value, line. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal.
  replace (j - i - 1)%nat with (j - (i + 1))%nat by lia. rewrite minus_INR by lia. ring. Qed.
(* No less than any pair. *)
Lemma rows_reach : (forall i j, (i <= j <= m)%nat -> x i <= x j) -> forall k i cols best,
  (i + k = m + 1)%nat -> 0 <= best -> chain cols -> cols <> [] -> (forall s, In s cols ->
  (m <= s)%nat) -> forall i' j, (i <= i' <= m)%nat -> (i' < j)%nat -> (forall v, x i <= v <= x m ->
  line j v <= top cols v) -> pair_value beta x i' j <= rows (seq i k) cols best.
Proof. intros ascending. induction k as [|k IH]; intros i cols best Hk Hb Hc Hn Hm i' j Hi Hj Hcov;
  [lia|]. simpl. destruct (advance_correct (x i) cols Hc Hn) as (H1 & H2 & H3 & H4 & H5).
  set (cols' := advance (x i) cols) in *. set (s := hd 0%nat cols') in *.
  assert (Hs : (m <= s)%nat) by (apply Hm, H3; unfold s; destruct cols'; [easy|now left]).
  set (best' := if i <? s then _ else best).
  assert (Hb' : best <= best') by (unfold best'; destruct (i <? s); [apply Rmax_l|lra]).
  destruct (Nat.eq_dec i i') as [<-|E].
  - apply Rle_trans with (2 := rows_above _ _ _).
    specialize (Hcov (x i) ltac:(split; [lra|apply ascending; lia])).
    specialize (H4 (x i) (Rle_refl _)). pose proof (exp_pos (beta * INR (i + 1))) as G.
    apply Rle_trans with (Rmax (line s (x i)) 0 * exp (beta * INR (i + 1))).
    + rewrite pair_on_line by exact Hj. apply Rmult_le_compat_r; lra.
    + unfold best'. destruct (Nat.ltb_spec i s) as [L|L].
      * rewrite pair_on_line by exact L. unfold Rmax. repeat destruct (Rle_dec _ _); nra.
      * replace s with i by lia. unfold line, Rmax. destruct (Rle_dec _ _); nra.
  - apply (IH (S i)); trivial; try lia; [lra|intros; apply Hm; now apply H3|].
    intros v Hv. pose proof (ascending i (S i) ltac:(lia)).
    apply Rle_trans with (top cols v); [apply Hcov|apply H4]; lra. Qed.
End Exact.

(* Of csrc/sensitivity/envelope_replace.c: in exact arithmetic the upper envelope, built as a stack
   of columns and read by rows with one forward pointer, returns the greatest value of a pair for
   any ascending values. *)
Theorem envelope_exact : forall beta x n m, 0 < beta ->
  (forall i j, (i <= j <= n + 1)%nat -> x i <= x j) -> (m <= n)%nat ->
  envelope beta x n m = greatest_pair n m beta x.
Proof. intros beta x n m Hb Hx Hm. unfold envelope, columns.
  replace (n + 2 - m)%nat with (S (n + 1 - m)) by lia.
  destruct (columns_stacked beta x m Hb (n + 1 - m)) as (H1 & H2 & H3 & H4).
  set (stack := fold_left _ _ []) in *. assert (Hc : chain beta x (rev stack)).
  { rewrite rev_alt. destruct stack as [|c stack]; [easy|].
    apply chain_reversed; simpl; trivial. now destruct stack. }
  assert (Hn : rev stack <> []) by (intros E; now rewrite <- (rev_involutive stack), E in H2).
  apply Rle_antisym.
  - apply rows_below; trivial; [apply greatest_nonnegative|]. intros i j Hi Hj Hij.
    apply in_seq in Hi. apply in_rev, H3, in_seq in Hj. among (i, j).
  - apply greatest_below; [apply rows_above|]. intros u ((i, j) & <- & Hij%in_pairs)%in_map_iff.
    apply (rows_reach beta x m); trivial; simpl; try lia; try lra; [intros; apply Hx; lia| |].
    + intros s Q. apply in_rev, H3, in_seq in Q. lia.
    + intros v [_ Hv]. apply Rle_trans with (top beta x stack v).
      * apply Rle_trans with (2 := H4 v Hv). among j.
      * apply top_incl. intros s. apply in_rev. Qed.
(* Of csrc/sensitivity/envelope_replace.c: so for order statistics it is the smooth sensitivity. *)
Theorem envelope_smooth : forall lo hi n m beta x, lo <= hi -> (m <= n)%nat -> 0 < beta ->
  is_table lo hi n x ->
  envelope beta (order_statistic lo hi x) n m = smooth_sensitivity lo hi n m beta x.
Proof.
  intros. apply envelope_exact; trivial. intros. apply (order_statistic_increases lo hi n); trivial.
  lia. Qed.
(* The premises hold of the ranks themselves: 0, 1 and 2 as the values of one row and the bounds. *)
Example envelope_of_one : envelope 1 INR 1 1 = 1.
Proof. rewrite envelope_exact by (lra || lia || (intros; apply le_INR; lia)).
  unfold greatest_pair, pairs, pair_value. simpl. rewrite Rmult_0_r, Rmult_1_r, exp_0, exp_Ropp.
  pose proof (exp_ineq1_le 1) as H. assert (/ exp 1 <= / 2) by (apply Rinv_le_contravar; lra).
  unfold Rmax. repeat destruct (Rle_dec _ _); lra. Qed.
