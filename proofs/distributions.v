(* Distributions on finitely many outcomes, and (epsilon, delta)-privacy of two of them. *)

From Coq Require Import Reals Lra List Bool.
Import ListNotations.
Open Scope R_scope.

(* The sum of f over a list. *)
Fixpoint total {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + total f rest
  end.

(* Outcomes, each with its probability. An outcome may stand in the list more than once. *)
Definition distribution (A : Type) : Type := list (A * R).

Definition is_distribution {A : Type} (p : distribution A) : Prop :=
  (forall x w, In (x, w) p -> 0 <= w) /\ total snd p = 1.
Definition event (A : Type) : Type := A -> bool.
Definition probability {A : Type} (p : distribution A) (e : event A) : R :=
  total (fun xw => if e (fst xw) then snd xw else 0) p.

(* What (epsilon, delta) says of two distributions, in one direction. *)
Definition within {A : Type} (epsilon delta : R) (p q : distribution A) : Prop :=
  forall e : event A, probability p e <= exp epsilon * probability q e + delta.

(* A mechanism is a distribution for each table. `neighbors` is any relation of tables: one that
   has no direction needs both (x, y) and (y, x) in it. *)
Definition private {T A : Type} (neighbors : T -> T -> Prop) (epsilon delta : R)
    (mechanism : T -> distribution A) : Prop :=
  forall x y, neighbors x y -> within epsilon delta (mechanism x) (mechanism y).

Lemma exp_monotone : forall a b, a <= b -> exp a <= exp b.
Proof. intros a b [H| ->]; [left; now apply exp_increasing | lra]. Qed.

Lemma total_nonnegative : forall (A : Type) (f : A -> R) l,
  (forall x, In x l -> 0 <= f x) -> 0 <= total f l.
Proof. induction l as [|x l IH]; simpl; intros H; [lra|]. apply Rplus_le_le_0_compat; auto. Qed.

Lemma total_monotone : forall (A : Type) (f g : A -> R) l,
  (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof. induction l as [|x l IH]; simpl; intros H; [lra|]. apply Rplus_le_compat; auto. Qed.

Lemma total_equal : forall (A : Type) (f g : A -> R) l,
  (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof. induction l as [|x l IH]; simpl; intros H; [easy|]. f_equal; auto. Qed.

Lemma total_scaled : forall (A : Type) (f : A -> R) c l,
  total (fun x => c * f x) l = c * total f l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma total_plus : forall (A : Type) (f g : A -> R) l,
  total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma total_app : forall (A : Type) (f : A -> R) l m,
  total f (l ++ m) = total f l + total f m.
Proof. induction l as [|x l IH]; intros m; simpl; [|rewrite IH]; ring. Qed.

Lemma total_map : forall (A B : Type) (g : A -> B) (f : B -> R) l,
  total f (map g l) = total (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

(* What holds for every single outcome holds for every event, with delta = 0. The weights of
   both distributions stand in the same order of outcomes. *)
Theorem outcomes_suffice : forall (A : Type) (outcomes : list A) (p q : A -> R) epsilon,
  (forall x, In x outcomes -> p x <= exp epsilon * q x) ->
  within epsilon 0 (map (fun x => (x, p x)) outcomes) (map (fun x => (x, q x)) outcomes).
Proof.
  intros A outcomes p q epsilon H e. unfold probability. rewrite !total_map; simpl.
  rewrite Rplus_0_r, <- total_scaled. apply total_monotone. intros x Hx.
  destruct (e x); [now apply H | lra].
Qed.
