(* The programs of `make bench-peers` in OCaml: `peers PROGRAM ARGUMENT...`. The C files describe them. Objects hold the
   same references as there. *)

let state = ref 2463534242

let random n =
  let x = !state in
  let x = x lxor (x lsl 13) land 0xffffffff in
  let x = x lxor (x lsr 17) in
  let x = x lxor (x lsl 5) land 0xffffffff in
  state := x;
  (x * n) lsr 32

let mix checksum value = ((checksum * 31) + value) land 0xffffffff

module Gcbench = struct
  type node = Nil | Node of { mutable left : node; mutable right : node; mutable i : int; mutable j : int }

  let leaf () = Node { left = Nil; right = Nil; i = 0; j = 0 }

  let rec populate node depth =
    match node with
    | Node n when depth > 0 ->
        n.left <- leaf ();
        n.right <- leaf ();
        populate n.left (depth - 1);
        populate n.right (depth - 1)
    | _ -> ()

  let rec make depth =
    if depth = 0 then leaf ()
    else
      let left = make (depth - 1) in
      let right = make (depth - 1) in
      Node { left; right; i = 0; j = 0 }

  let rec count = function Nil -> 0 | Node n -> 1 + count n.left + count n.right
  let rec leftmost depth = function Nil -> depth | Node n -> leftmost (depth + 1) n.left
  let size depth = (2 lsl depth) - 1

  let construct depth iterations checksum =
    for _ = 1 to iterations do
      let node = leaf () in
      populate node depth;
      checksum := mix !checksum (leftmost 0 node)
    done;
    for _ = 1 to iterations do
      checksum := mix !checksum (leftmost 0 (make depth))
    done

  let run depth =
    let checksum = ref (leftmost 0 (make (depth + 2))) in
    let lasting = leaf () in
    populate lasting depth;
    let numbers = Array.make 500000 0.0 in
    for i = 1 to (500000 / 2) - 1 do
      numbers.(i) <- 1.0 /. float_of_int i
    done;
    for half = 2 to depth / 2 do
      let d = 2 * half in
      construct d (2 * size (depth + 2) / size d) checksum
    done;
    mix (mix !checksum (count lasting)) (int_of_float ((1.0 /. numbers.(1000)) +. 0.5))
end

module Trees = struct
  type tree = Nil | Tree of tree * tree

  let rec make depth =
    if depth = 0 then Tree (Nil, Nil)
    else
      let left = make (depth - 1) in
      let right = make (depth - 1) in
      Tree (left, right)

  let rec count = function Nil -> 0 | Tree (left, right) -> 1 + count left + count right

  let run depth =
    let checksum = ref (count (make (depth + 1))) in
    let lasting = make depth in
    for half = 2 to depth / 2 do
      let d = 2 * half in
      let sum = ref 0 in
      for _ = 1 to 1 lsl (depth - d + 4) do
        sum := !sum + count (make d)
      done;
      checksum := mix !checksum !sum
    done;
    mix !checksum (count lasting)
end

type cell = Nil | Cell of { mutable next : cell; value : int }

let queue live operations cleared =
  let head = ref Nil and tail = ref Nil and checksum = ref 0 in
  for i = 0 to operations - 1 do
    let cell = Cell { next = Nil; value = i } in
    (match !tail with Nil -> head := cell | Cell last -> last.next <- cell);
    tail := cell;
    if i >= live then
      match !head with
      | Nil -> ()
      | Cell taken ->
          head := taken.next;
          checksum := mix !checksum taken.value;
          if cleared then taken.next <- Nil
  done;
  let rec drain = function
    | Nil -> ()
    | Cell cell ->
        checksum := mix !checksum cell.value;
        drain cell.next
  in
  drain !head;
  !checksum

let value = function Nil -> 0 | Cell cell -> cell.value

let array slots stores dead =
  let array = Array.make slots Nil and checksum = ref 0 in
  for i = 0 to stores - 1 do
    let cell = Cell { next = Nil; value = i } in
    array.(random slots) <- cell;
    for j = 0 to dead - 1 do
      checksum := !checksum + value (Sys.opaque_identity (Cell { next = Nil; value = j }))
    done
  done;
  Array.fold_left (fun checksum cell -> mix checksum (value cell)) (!checksum land 0xffffffff) array

module Alloc = struct
  (* Of 16, 32 and 64 bytes with a header of 8. *)
  type small = { mutable i : int }
  type middle = { mutable a : int; b : int; c : int }
  type large = { mutable d : int; e : int; f : int; g : int; h : int; j : int; k : int }

  let run bytes count =
    let checksum = ref 0 in
    (match bytes with
    | 16 ->
        for i = 0 to count - 1 do
          checksum := !checksum + (Sys.opaque_identity { i }).i
        done
    | 32 ->
        for i = 0 to count - 1 do
          checksum := !checksum + (Sys.opaque_identity { a = i; b = 0; c = 0 }).a
        done
    | _ ->
        for i = 0 to count - 1 do
          checksum := !checksum + (Sys.opaque_identity { d = i; e = 0; f = 0; g = 0; h = 0; j = 0; k = 0 }).d
        done);
    !checksum land 0xffffffff
end

module Json = struct
  type value =
    | Null
    | Number of int
    | Text of { bytes : Bytes.t; hash : int }
    | List of { mutable items : value array; mutable count : int }
    | Members of { mutable table : value array; mutable count : int }

  let make_text seed length =
    let bytes = Bytes.create length and hash = ref 0 in
    for i = 0 to length - 1 do
      let c = Char.code 'a' + ((seed + (i * i)) mod 26) in
      Bytes.unsafe_set bytes i (Char.unsafe_chr c);
      hash := mix !hash c
    done;
    Text { bytes; hash = !hash }

  let hash = function Text text -> text.hash | _ -> 0

  let find table key =
    let mask = (Array.length table / 2) - 1 in
    let is_same other =
      match (other, key) with Text a, Text b -> a.hash = b.hash && Bytes.equal a.bytes b.bytes | _ -> false
    in
    let rec probe place =
      match table.(2 * place) with
      | Null -> place
      | other -> if is_same other then place else probe ((place + 1) land mask)
    in
    probe (hash key land mask)

  let grow old =
    let table = Array.make (2 * Array.length old) Null in
    for i = 0 to (Array.length old / 2) - 1 do
      let key = old.(2 * i) in
      if key != Null then (
        let place = find table key in
        table.(2 * place) <- key;
        table.((2 * place) + 1) <- old.((2 * i) + 1))
    done;
    table

  let rec make_list depth =
    let items = ref (Array.make 4 Null) and n = 2 + random 8 in
    for i = 0 to n - 1 do
      let value = make (depth - 1) (random 8) in
      if i = Array.length !items then items := Array.append !items (Array.make i Null);
      !items.(i) <- value
    done;
    List { items = !items; count = n }

  and make_members depth =
    let table = ref (Array.make 8 Null) and count = ref 0 in
    for _ = 1 to 2 + random 8 do
      let name = random 64 in
      let key = make_text name (3 + (name mod 8)) in
      let value = make (depth - 1) (random 8) in
      let place = ref (find !table key) in
      if !table.(2 * !place) == Null then (
        if 4 * (!count + 1) > 3 * (Array.length !table / 2) then (
          table := grow !table;
          place := find !table key);
        incr count);
      !table.(2 * !place) <- key;
      !table.((2 * !place) + 1) <- value
    done;
    Members { table = !table; count = !count }

  and make depth kind =
    let kind = if depth = 0 then kind mod 4 else kind in
    if kind < 2 then Number (random 1000000)
    else if kind < 4 then
      let seed = random 1000 in
      make_text seed (4 + random 24)
    else if kind < 6 then make_list depth
    else make_members depth

  let rec walk checksum = function
    | Null -> checksum
    | Number n -> mix checksum n
    | Text { bytes; hash } -> mix (mix checksum hash) (Char.code (Bytes.get bytes (Bytes.length bytes - 1)))
    | List { items; count } | Members { table = items; count } -> mix (Array.fold_left walk checksum items) count

  let run documents keep depth =
    let kept = Array.make keep Null and checksum = ref 0 in
    for i = 0 to documents - 1 do
      checksum := walk !checksum kept.(i mod keep);
      let document = make_members depth in
      checksum := walk !checksum document;
      kept.(i mod keep) <- document
    done;
    !checksum
end

module Lisp = struct
  type operator = Call | If | Lambda | Define | Add | Subtract | Less | Equal | Cons | Car | Cdr | Null

  type value =
    | Nil
    | Number of int
    | Pair of { car : value; cdr : value }
    | Closure of { parameters : value; body : value; defined_in : binding }
    | Symbol of { name : string; operator : operator; mutable global : value }

  and binding = Top | Binding of { symbol : value; bound : value; outer : binding }

  let operators =
    [ ("if", If); ("lambda", Lambda); ("define", Define); ("+", Add); ("-", Subtract); ("<", Less); ("=", Equal);
      ("cons", Cons); ("car", Car); ("cdr", Cdr); ("null", Null) ]

  let symbols : (string, value) Hashtbl.t = Hashtbl.create 64

  let intern name =
    match Hashtbl.find_opt symbols name with
    | Some symbol -> symbol
    | None ->
        let operator = Option.value (List.assoc_opt name operators) ~default:Call in
        let symbol = Symbol { name; operator; global = Nil } in
        Hashtbl.add symbols name symbol;
        symbol

  let truth = intern "t"
  let () = match truth with Symbol t -> t.global <- truth | _ -> ()

  (* The words of a text, parentheses among them. *)
  let tokens text =
    let code line = List.hd (String.split_on_char ';' line) in
    let apart = Buffer.create 4096 in
    let add = function ('(' | ')') as c -> Printf.bprintf apart " %c " c | c -> Buffer.add_char apart c in
    List.iter (fun line -> String.iter add (code line ^ " ")) (String.split_on_char '\n' text);
    List.filter (fun word -> word <> "") (String.split_on_char ' ' (Buffer.contents apart))

  let rec read_list = function
    | [] -> (Nil, [])
    | ")" :: rest -> (Nil, rest)
    | words ->
        let car, rest = read_form words in
        let cdr, rest = read_list rest in
        (Pair { car; cdr }, rest)

  and read_form = function
    | "(" :: rest -> read_list rest
    | word :: rest when word.[0] >= '0' && word.[0] <= '9' -> (Number (int_of_string word), rest)
    | "nil" :: rest -> (Nil, rest)
    | word :: rest -> (intern word, rest)
    | [] -> (Nil, [])

  let car = function Pair pair -> pair.car | _ -> failwith "car"
  let cdr = function Pair pair -> pair.cdr | _ -> failwith "cdr"
  let rec nth list n = if n = 0 then car list else nth (cdr list) (n - 1)
  let number = function Number n -> n | _ -> failwith "number"
  let boolean b = if b then truth else Nil

  let rec lookup symbol = function
    | Binding b -> if b.symbol == symbol then b.bound else lookup symbol b.outer
    | Top -> ( match symbol with Symbol s -> s.global | _ -> Nil)

  let rec eval form env =
    match form with
    | Nil | Number _ | Closure _ -> form
    | Symbol _ -> lookup form env
    | Pair pair -> (
        match (match pair.car with Symbol s -> s.operator | _ -> Call) with
        | If -> eval (nth form (if eval (nth form 1) env != Nil then 2 else 3)) env
        | Lambda -> Closure { parameters = nth form 1; body = nth form 2; defined_in = env }
        | Define ->
            let signature = nth form 1 in
            let closure = Closure { parameters = cdr signature; body = nth form 2; defined_in = Top } in
            (match car signature with Symbol s -> s.global <- closure | _ -> ());
            Nil
        | Call -> (
            match eval pair.car env with
            | Closure c -> eval c.body (bind c.parameters pair.cdr env c.defined_in)
            | _ -> failwith "call")
        | operator -> apply operator form env)

  and bind parameters arguments env inner =
    match (parameters, arguments) with
    | Pair p, Pair a ->
        let bound = eval a.car env in
        bind p.cdr a.cdr env (Binding { symbol = p.car; bound; outer = inner })
    | _ -> inner

  and apply operator form env =
    let first = eval (nth form 1) env in
    match operator with
    | Car -> car first
    | Cdr -> cdr first
    | Null -> boolean (first == Nil)
    | _ -> (
        let second = eval (nth form 2) env in
        match operator with
        | Cons -> Pair { car = first; cdr = second }
        | Less -> boolean (number first < number second)
        | Equal -> boolean (number first = number second)
        | Add -> Number (number first + number second)
        | _ -> Number (number first - number second))

  let run file repeat =
    let channel = open_in file in
    let forms, _ = read_list (tokens (really_input_string channel (in_channel_length channel))) in
    let rec each checksum = function
      | Pair { car; cdr } -> each (match eval car Top with Number n -> mix checksum n | _ -> checksum) cdr
      | _ -> checksum
    in
    let checksum = ref 0 in
    for _ = 1 to repeat do
      checksum := each !checksum forms
    done;
    !checksum
end

module Lru = struct
  type entry = {
    key : int;
    mutable value : Bytes.t;
    mutable chain : entry;
    mutable newer : entry;
    mutable older : entry;
  }

  (* Ends each chain, and closes the list: its older is the latest entry, its newer the oldest. *)
  let rec sentinel = { key = 0; value = Bytes.empty; chain = sentinel; newer = sentinel; older = sentinel }

  let next_key () =
    let bits = random 24 in
    (1 lsl bits) + random (1 lsl bits)

  let make_value key = Bytes.make (16 + (key mod 112)) (Char.unsafe_chr (key land 255))
  let bucket table key = (key * 2654435761 land 0xffffffff) lsr 7 land (Array.length table - 1)

  let unlink entry =
    entry.newer.older <- entry.older;
    entry.older.newer <- entry.newer

  let link entry =
    let latest = sentinel.older in
    entry.newer <- sentinel;
    entry.older <- latest;
    latest.newer <- entry;
    sentinel.older <- entry

  let find table key =
    let rec look entry = if entry == sentinel || entry.key = key then entry else look entry.chain in
    look table.(bucket table key)

  let evict table =
    let entry = sentinel.newer in
    unlink entry;
    let place = bucket table entry.key in
    let rec drop other = if other.chain == entry then other.chain <- entry.chain else drop other.chain in
    if table.(place) == entry then table.(place) <- entry.chain else drop table.(place)

  let insert table key =
    let value = make_value key and place = bucket table key in
    let entry = { key; value; chain = table.(place); newer = sentinel; older = sentinel } in
    table.(place) <- entry;
    link entry

  let run capacity operations =
    let rec power n = if n < capacity then power (2 * n) else n in
    let table = Array.make (power 16) sentinel and count = ref 0 and checksum = ref 0 in
    for i = 0 to operations - 1 do
      let key = next_key () in
      let entry = find table key in
      if entry == sentinel then (
        if !count = capacity then evict table else incr count;
        insert table key)
      else (
        checksum := mix !checksum (Char.code (Bytes.get entry.value 15));
        unlink entry;
        link entry;
        if i mod 8 = 0 then entry.value <- make_value key)
    done;
    let rec sum checksum entry = if entry == sentinel then checksum else sum (mix checksum entry.key) entry.older in
    sum !checksum sentinel.older
end

let () =
  let word i = Sys.argv.(i) in
  let n i = int_of_string (word i) in
  let clock () = int_of_float (Unix.gettimeofday () *. 1e9) in
  let start = clock () in
  let checksum =
    match word 1 with
    | "gcbench" -> Gcbench.run (n 2)
    | "trees" -> Trees.run (n 2)
    | "queue" -> queue (n 2) (n 3) (word 4 = "cleared")
    | "array" -> array (n 2) (n 3) (n 4)
    | "alloc" -> Alloc.run (n 2) (n 3)
    | "json" -> Json.run (n 2) (n 3) (n 4)
    | "lisp" -> Lisp.run (word 2) (n 3)
    | "lru" -> Lru.run (n 2) (n 3)
    | program -> failwith ("no program " ^ program)
  in
  Printf.printf "{\"checksum\": %d, \"start_ns\": %d, \"end_ns\": %d}\n" checksum start (clock ())
