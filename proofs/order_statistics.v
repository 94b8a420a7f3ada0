(* Order statistics of a table of real numbers, and the Hamming distance of tables. *)

From Coq Require Import Reals Lra Lia List Bool Arith Sorted.
Import ListNotations.
Open Scope R_scope.

(* The number of the rows that have a property. *)
Definition count {A : Type} (has : A -> bool) (x : list A) : nat := length (filter has x).

Definition at_most (v u : R) : bool := if Rle_dec u v then true else false.
Definition at_least (v u : R) : bool := if Rle_dec v u then true else false.

(* The rows in ascending order. *)
Fixpoint insert (v : R) (l : list R) : list R :=
  match l with
  | [] => [v]
  | u :: rest => if Rle_dec v u then v :: l else u :: insert v rest
  end.

Definition sort (x : list R) : list R := fold_right insert [] x.

(* The k-th smallest of n rows; lo for k = 0, and hi for k > n. Ranks are natural numbers, so that
   a difference of ranks which would be negative is rank 0. *)
Definition order_statistic (lo hi : R) (x : list R) (k : nat) : R := nth k (lo :: sort x) hi.

(* The tables of n rows with values in [lo, hi]. *)
Definition is_table (lo hi : R) (n : nat) (x : list R) : Prop :=
  length x = n /\ Forall (fun v => lo <= v <= hi) x.

(* The number of the rows by which two tables of the same length differ. *)
Definition different (uv : R * R) : bool := if Req_EM_T (fst uv) (snd uv) then false else true.
Definition hamming (x y : list R) : nat := count different (combine x y).

(* A greatest element of a set of real numbers. *)
Definition is_maximum (v : R) (among : R -> Prop) : Prop :=
  among v /\ forall w, among w -> w <= v.

(* A number is the greatest of a set when some are as great, and none is greater. *)
Lemma squeezed : forall v (among : R -> Prop), (exists w, among w /\ v <= w) ->
  (forall w, among w -> w <= v) -> is_maximum v among.
Proof. intros v among (w & Hw & Hv) H. split; [|exact H]. replace v with w; auto using Rle_antisym.
Qed.

(* Counts *)
Definition one (b : bool) : nat := if b then 1%nat else 0%nat.

Lemma count_cons : forall A has (u : A) x, count has (u :: x) = (one (has u) + count has x)%nat.
Proof. intros. unfold count. simpl. destruct (has u); reflexivity. Qed.
Lemma count_app : forall A has (x y : list A), count has (x ++ y) = (count has x + count has y)%nat.
Proof. intros. unfold count. now rewrite filter_app, app_length. Qed.
Lemma count_length : forall A has (x : list A), (count has x <= length x)%nat.
Proof. induction x as [|u x IH]; [easy|]. rewrite count_cons. destruct (has u); simpl; lia. Qed.
Lemma count_all : forall A has (x : list A), Forall (fun u => has u = true) x ->
  count has x = length x.
Proof. induction 1 as [|u x Hu _ IH]; [reflexivity|]. now rewrite count_cons, Hu, IH. Qed.
Lemma count_none : forall A has (x : list A), Forall (fun u => has u = false) x ->
  count has x = 0%nat.
Proof. induction 1 as [|u x Hu _ IH]; [reflexivity|]. now rewrite count_cons, Hu, IH. Qed.
Lemma count_negb : forall A has (x : list A),
  (count has x + count (fun u => negb (has u)) x)%nat = length x.
Proof. induction x as [|u x IH]; [easy|]. rewrite !count_cons. destruct (has u); simpl; lia. Qed.
(* A table with a row of some property, parted there. *)
Lemma count_positive : forall A has (x : list A), (0 < count has x)%nat ->
  exists l u r, x = l ++ u :: r /\ has u = true.
Proof. induction x as [|u x IH]; [easy|]. rewrite count_cons. destruct (has u) eqn:E.
  - now exists [], u, x.
  - intros H. destruct (IH H) as (l & v & r & -> & Hv). now exists (u :: l), v, r. Qed.
Lemma at_most_true : forall v u, at_most v u = true <-> u <= v.
Proof. intros. unfold at_most. destruct (Rle_dec u v); split; easy. Qed.
Lemma at_least_true : forall v u, at_least v u = true <-> v <= u.
Proof. intros. unfold at_least. destruct (Rle_dec v u); split; easy. Qed.

(* A gap's rows: those below, those above, and those inside. *)
Definition inside (a b u : R) : bool := negb (at_most a u || at_least b u).

Lemma count_parts : forall a b x, a < b ->
  (count (at_most a) x + count (at_least b) x + count (inside a b) x)%nat = length x.
Proof. intros a b x Hab. induction x as [|u x IH]; [reflexivity|]. rewrite !count_cons.
  simpl length. rewrite <- IH. unfold inside at 1, at_most at 1 3, at_least at 1 3.
  destruct (Rle_dec u a), (Rle_dec b u); simpl; lia || lra. Qed.
(* Rows up to a and rows from b on are different rows when a < b. *)
Lemma count_apart : forall a b x, a < b ->
  (count (at_most a) x + count (at_least b) x <= length x)%nat.
Proof. intros a b x H. rewrite <- (count_parts a b x H). lia. Qed.

(* Order statistics *)
Lemma count_insert : forall has v l, count has (insert v l) = count has (v :: l).
Proof. induction l as [|u l IH]; [reflexivity|]. simpl. destruct (Rle_dec v u); [reflexivity|].
  rewrite count_cons, IH, !count_cons. lia. Qed.
Lemma count_sort : forall has x, count has (sort x) = count has x.
Proof. induction x as [|u x IH]; [reflexivity|]. simpl. now rewrite count_insert, !count_cons, IH.
Qed.
Lemma length_sort : forall x, length (sort x) = length x.
Proof. intros. rewrite <- (count_all _ (fun _ => true) (sort x)), count_sort, count_all; trivial;
  now apply Forall_forall. Qed.
Lemma sorted_sort : forall x, StronglySorted Rle (sort x).
Proof. assert (HI : forall v l, StronglySorted Rle l -> StronglySorted Rle (insert v l)).
  { intros v l H. apply Sorted_StronglySorted; [exact Rle_trans|]. apply StronglySorted_Sorted in H.
    induction H as [|u l Hl IH Hu]; simpl; [auto|]. destruct (Rle_dec v u); [auto|].
    constructor; [exact IH|]. destruct l as [|t l]; simpl; [constructor; lra|].
    destruct (Rle_dec v t); constructor; [lra|]. now inversion Hu. }
  induction x as [|u x IH]; simpl; [constructor|]. now apply HI. Qed.
(* A property that passes from each value to the smaller ones. *)
Lemma sorted_nth : forall has, (forall t u, t <= u -> has u = true -> has t = true) ->
  forall s, StronglySorted Rle s -> forall k d, (k < length s)%nat ->
  has (nth k s d) = true <-> (k < count has s)%nat.
Proof. intros has down. induction 1 as [|u s Hs IH Hu]; simpl; intros k d Hk; [lia|].
  rewrite count_cons. rewrite Forall_forall in Hu. destruct (has u) eqn:E; simpl.
  - destruct k; [split; [lia|auto]|]. rewrite IH by lia. lia.
  - rewrite count_none.
    + split; [|lia]. intros H. rewrite (down u (nth k (u :: s) d)) in E; [easy| |exact H].
      destruct k; [apply Rle_refl|]. simpl. apply Hu, nth_In. lia.
    + apply Forall_forall. intros t Ht. destruct (has t) eqn:Et; [|trivial].
      rewrite (down u t (Hu t Ht) Et) in E. easy. Qed.
Lemma order_statistic_low : forall lo hi x, order_statistic lo hi x 0 = lo.
Proof. reflexivity. Qed.
Lemma order_statistic_high : forall lo hi x k, (length x < k)%nat -> order_statistic lo hi x k = hi.
Proof. intros. unfold order_statistic. apply nth_overflow. simpl. rewrite length_sort. lia. Qed.
(* The k-th smallest row is at most v just when k rows are. *)
Lemma order_statistic_at_most : forall lo hi x k v, (1 <= k <= length x)%nat ->
  order_statistic lo hi x k <= v <-> (k <= count (at_most v) x)%nat.
Proof. intros lo hi x [|k] v Hk; [lia|]. unfold order_statistic. simpl nth.
  rewrite <- at_most_true, sorted_nth, count_sort;
  [lia| |apply sorted_sort|rewrite length_sort; lia]. intros t u. rewrite !at_most_true. lra. Qed.
(* It is at least v just when more than n - k rows are. *)
Lemma order_statistic_at_least : forall lo hi x k v, (1 <= k <= length x)%nat ->
  v <= order_statistic lo hi x k <-> (length x < k + count (at_least v) x)%nat.
Proof. intros lo hi x [|k] v Hk; [lia|]. unfold order_statistic. simpl nth.
  pose proof (count_negb _ (at_least v) x) as C.
  pose proof (sorted_nth (fun u => negb (at_least v u))) as H.
  specialize (H ltac:(intros t u; unfold at_least; repeat destruct (Rle_dec _ _); easy || lra)
    (sort x) (sorted_sort x) k hi ltac:(rewrite length_sort; lia)).
  rewrite count_sort, negb_true_iff in H. rewrite <- at_least_true, <- not_false_iff_true, H. lia.
Qed.
Lemma order_statistic_bounded : forall lo hi n x k, lo <= hi -> is_table lo hi n x ->
  lo <= order_statistic lo hi x k <= hi.
Proof. intros lo hi n x k Hlo [_ Hx]. destruct k as [|k]; [rewrite order_statistic_low; lra|].
  destruct (le_lt_dec (S k) (length x)) as [Hk|Hk]; [|rewrite order_statistic_high; lra || lia].
  split; [apply order_statistic_at_least|apply order_statistic_at_most]; try lia;
  rewrite count_all; try lia; revert Hx; apply Forall_impl; intros u Hu;
  apply at_least_true || apply at_most_true; lra. Qed.
Lemma order_statistic_increases : forall lo hi n x i j, lo <= hi -> is_table lo hi n x ->
  (i <= j)%nat -> order_statistic lo hi x i <= order_statistic lo hi x j.
Proof.
  intros lo hi n x i j Hlo Hx Hij. pose proof (order_statistic_bounded lo hi n x i Hlo Hx) as Hi.
  pose proof (order_statistic_bounded lo hi n x j Hlo Hx) as Hj. destruct i as [|i]; [apply Hj|].
  destruct (le_lt_dec j (length x)) as [Hn|Hn]; [|rewrite (order_statistic_high _ _ _ j Hn); lra].
  apply order_statistic_at_most; [lia|]. apply Nat.le_trans with (1 := Hij).
  apply (order_statistic_at_most lo hi); [lia|lra]. Qed.
(* Rows at most x_k are k or more, and so are n + 1 - k of the rows at least x_k. *)
Lemma count_at_most_order : forall lo hi x k, (k <= length x)%nat ->
  (k <= count (at_most (order_statistic lo hi x k)) x)%nat.
Proof. intros lo hi x [|k] Hk; [lia|]. apply (order_statistic_at_most lo hi); [lia|apply Rle_refl].
Qed.
Lemma count_at_least_order : forall lo hi x k, (1 <= k)%nat ->
  (length x < k + count (at_least (order_statistic lo hi x k)) x)%nat.
Proof. intros lo hi x k Hk. destruct (le_lt_dec k (length x)); [|lia].
  apply (order_statistic_at_least lo hi); [lia|apply Rle_refl]. Qed.

(* Hamming distance *)
Lemma hamming_cons : forall u v x y,
  hamming (u :: x) (v :: y) = ((if Req_EM_T u v then 0 else 1) + hamming x y)%nat.
Proof. intros. unfold hamming. simpl combine. rewrite count_cons. unfold different at 1. simpl.
  now destruct (Req_EM_T u v). Qed.
(* Takes rows of counts and distances apart. *)
Local Ltac each_row := intros; try (simpl in *; lia); rewrite ?count_cons, ?hamming_cons in *;
  repeat destruct (Req_EM_T _ _); subst.
Lemma hamming_same : forall x, hamming x x = 0%nat.
Proof. induction x; [reflexivity|]. now each_row. Qed.
Lemma hamming_zero : forall x y, length x = length y -> hamming x y = 0%nat -> x = y.
Proof. induction x as [|u x IH]; intros [|v y]; each_row; [easy| |easy]. f_equal. auto. Qed.
Lemma hamming_symmetric : forall x y, hamming x y = hamming y x.
Proof. induction x as [|u x IH]; intros [|v y]; trivial. each_row; rewrite IH; congruence. Qed.
Lemma hamming_triangle : forall x y z, length x = length y ->
  (hamming x z <= hamming x y + hamming y z)%nat.
Proof. induction x as [|u x IH]; intros [|v y] [|w z] H; each_row; try apply Nat.le_0_l;
  specialize (IH y z ltac:(now injection H)); lia || easy. Qed.
(* Counts of tables at distance d differ by d or less. *)
Lemma count_hamming : forall has x y, length x = length y ->
  (count has x <= count has y + hamming x y)%nat.
Proof. induction x as [|u x IH]; intros [|v y] H; each_row; [apply Nat.le_0_l| |];
  specialize (IH y ltac:(now injection H)); [|destruct (has u)]; simpl; lia. Qed.
(* A table with one row replaced. *)
Lemma hamming_replaced : forall l u v r, (hamming (l ++ u :: r) (l ++ v :: r) <= 1)%nat.
Proof. induction l as [|t l IH]; simpl; each_row; rewrite ?hamming_same; [lia..|apply IH|easy]. Qed.
(* Two tables that differ have a third between them, one row away from the first. *)
Lemma hamming_between : forall lo hi n x y d, is_table lo hi n x -> is_table lo hi n y ->
  hamming x y = S d -> exists w, is_table lo hi n w /\ hamming x w = 1%nat /\ hamming w y = d.
Proof. intros lo hi n x y d [<- Hx]. revert y d. induction Hx as [|u x Hu Hx IH];
  intros [|v y] d [Hn Hy] H; try easy. apply Forall_cons_iff in Hy. destruct Hy as [Hv Hy].
  injection Hn as Hn. rewrite hamming_cons in H. destruct (Req_EM_T u v) as [E|E]; simpl in H.
  - destruct (IH y d) as (w & [Hl Hw] & H1 & H2); [easy..|]. exists (u :: w).
    repeat split; simpl; auto; now each_row.
  - exists (v :: x). repeat split; simpl; auto; each_row; rewrite ?hamming_same; lia || easy. Qed.
