/* The programs of `make bench-peers` in Java: `java Peers PROGRAM ARGUMENT...`. The C files describe them. Objects hold
 * the same references as there. */
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

public final class Peers {
    static int random = (int) 2463534242L;

    static int random(int n) {
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        return (int) ((random & 0xffffffffL) * n >>> 32);
    }

    static int mix(int checksum, long value) {
        return checksum * 31 + (int) value;
    }

    /** Does nothing. With -XX:CompileCommand=blackhole the compiler can't remove the allocation of its argument. */
    static void consume(Object object) {}

    static final class GcBench {
        static final class Node {
            Node left, right;
            int i, j;
        }

        static void populate(Node node, int depth) {
            if (depth > 0) {
                node.left = new Node();
                node.right = new Node();
                populate(node.left, depth - 1);
                populate(node.right, depth - 1);
            }
        }

        static Node make(int depth) {
            if (depth == 0) {
                return new Node();
            }
            Node left = make(depth - 1), right = make(depth - 1), node = new Node();
            node.left = left;
            node.right = right;
            return node;
        }

        static int count(Node node) {
            return node == null ? 0 : 1 + count(node.left) + count(node.right);
        }

        static int leftmost(Node node) {
            int depth = 0;
            for (; node != null; node = node.left) {
                depth++;
            }
            return depth;
        }

        static int size(int depth) {
            return (2 << depth) - 1;
        }

        static int construct(int depth, int iterations, int checksum) {
            for (int i = 0; i < iterations; i++) {
                Node node = new Node();
                populate(node, depth);
                checksum = mix(checksum, leftmost(node));
            }
            for (int i = 0; i < iterations; i++) {
                checksum = mix(checksum, leftmost(make(depth)));
            }
            return checksum;
        }

        static int run(int depth) {
            int checksum = leftmost(make(depth + 2));
            Node lasting = new Node();
            populate(lasting, depth);
            double[] numbers = new double[500000];
            for (int i = 1; i < numbers.length / 2; i++) {
                numbers[i] = 1.0 / i;
            }
            for (int d = 4; d <= depth; d += 2) {
                checksum = construct(d, 2 * size(depth + 2) / size(d), checksum);
            }
            return mix(mix(checksum, count(lasting)), (int) (1 / numbers[1000] + 0.5));
        }
    }

    static final class Trees {
        static final class Tree {
            final Tree left, right;

            Tree(Tree left, Tree right) {
                this.left = left;
                this.right = right;
            }

            int count() {
                return left == null ? 1 : 1 + left.count() + right.count();
            }
        }

        static Tree make(int depth) {
            return depth == 0 ? new Tree(null, null) : new Tree(make(depth - 1), make(depth - 1));
        }

        static int run(int depth) {
            int checksum = make(depth + 1).count();
            Tree lasting = make(depth);
            for (int d = 4; d <= depth; d += 2) {
                int sum = 0;
                for (int i = 1 << depth - d + 4; i > 0; i--) {
                    sum += make(d).count();
                }
                checksum = mix(checksum, sum);
            }
            return mix(checksum, lasting.count());
        }
    }

    static final class Cell {
        Cell next;
        long value;

        Cell(long value) {
            this.value = value;
        }
    }

    static int queue(int live, int operations, boolean cleared) {
        Cell head = null, tail = null;
        int checksum = 0;
        for (int i = 0; i < operations; i++) {
            Cell cell = new Cell(i);
            if (i == 0) {
                head = cell;
            } else {
                tail.next = cell;
            }
            tail = cell;
            if (i >= live) {
                Cell taken = head;
                head = taken.next;
                checksum = mix(checksum, taken.value);
                if (cleared) {
                    taken.next = null;
                }
            }
        }
        for (; head != null; head = head.next) {
            checksum = mix(checksum, head.value);
        }
        return checksum;
    }

    static int array(int slots, int stores, int dead) {
        Cell[] array = new Cell[slots];
        int checksum = 0;
        for (int i = 0; i < stores; i++) {
            Cell cell = new Cell(i);
            array[random(slots)] = cell;
            for (int j = 0; j < dead; j++) {
                Cell garbage = new Cell(j);
                consume(garbage);
                checksum += (int) garbage.value;
            }
        }
        for (Cell cell : array) {
            checksum = mix(checksum, cell == null ? 0 : cell.value);
        }
        return checksum;
    }

    static final class Alloc {
        /* Of 16, 32 and 64 bytes with a header of 12. */
        static class Small {
            int i;
        }

        static class Middle extends Small {
            int a, b, c, d;
        }

        static class Large extends Middle {
            int e, f, g, h, k, l, m, n;
        }

        static int small(int count) {
            int checksum = 0;
            for (int i = 0; i < count; i++) {
                Small object = new Small();
                object.i = i;
                consume(object);
                checksum += object.i;
            }
            return checksum;
        }

        static int middle(int count) {
            int checksum = 0;
            for (int i = 0; i < count; i++) {
                Middle object = new Middle();
                object.i = i;
                consume(object);
                checksum += object.i;
            }
            return checksum;
        }

        static int large(int count) {
            int checksum = 0;
            for (int i = 0; i < count; i++) {
                Large object = new Large();
                object.i = i;
                consume(object);
                checksum += object.i;
            }
            return checksum;
        }

        static int run(int bytes, int count) {
            return bytes == 16 ? small(count) : bytes == 32 ? middle(count) : large(count);
        }
    }

    static final class Json {
        abstract static class Value {
            abstract int walk(int checksum);
        }

        static final class Number extends Value {
            final long value;

            Number(long value) {
                this.value = value;
            }

            @Override
            int walk(int checksum) {
                return mix(checksum, value);
            }
        }

        static final class Text extends Value {
            final byte[] bytes;
            final int hash;

            Text(int seed, int length) {
                bytes = new byte[length];
                int hash = 0;
                for (int i = 0; i < length; i++) {
                    bytes[i] = (byte) ('a' + (seed + i * i) % 26);
                    hash = mix(hash, bytes[i]);
                }
                this.hash = hash;
            }

            boolean isSame(Text other) {
                return hash == other.hash && java.util.Arrays.equals(bytes, other.bytes);
            }

            @Override
            int walk(int checksum) {
                return mix(mix(checksum, hash), bytes[bytes.length - 1]);
            }
        }

        static final class List extends Value {
            Value[] items = new Value[4];
            int count;

            void append(Value value) {
                if (count == items.length) {
                    items = java.util.Arrays.copyOf(items, 2 * count);
                }
                items[count++] = value;
            }

            @Override
            int walk(int checksum) {
                for (int i = 0; i < count; i++) {
                    checksum = items[i].walk(checksum);
                }
                return mix(checksum, count);
            }
        }

        static final class Members extends Value {
            Value[] table = new Value[2 * 4]; // keys and values in turn
            int count;

            int find(Text key) {
                int mask = table.length / 2 - 1, place = key.hash & mask;
                while (table[2 * place] != null && !((Text) table[2 * place]).isSame(key)) {
                    place = place + 1 & mask;
                }
                return place;
            }

            void grow() {
                Value[] old = table;
                table = new Value[2 * old.length];
                for (int i = 0; i < old.length; i += 2) {
                    if (old[i] != null) {
                        int place = find((Text) old[i]);
                        table[2 * place] = old[i];
                        table[2 * place + 1] = old[i + 1];
                    }
                }
            }

            void put(Text key, Value value) {
                int place = find(key);
                if (table[2 * place] == null) {
                    if (4 * (count + 1) > 3 * (table.length / 2)) {
                        grow();
                        place = find(key);
                    }
                    count++;
                }
                table[2 * place] = key;
                table[2 * place + 1] = value;
            }

            @Override
            int walk(int checksum) {
                for (Value value : table) {
                    checksum = value == null ? checksum : value.walk(checksum);
                }
                return mix(checksum, count);
            }
        }

        static Value makeList(int depth) {
            List list = new List();
            for (int n = 2 + random(8); n > 0; n--) {
                list.append(make(depth - 1, random(8)));
            }
            return list;
        }

        static Value makeMembers(int depth) {
            Members members = new Members();
            for (int n = 2 + random(8); n > 0; n--) {
                int name = random(64);
                Text key = new Text(name, 3 + name % 8);
                members.put(key, make(depth - 1, random(8)));
            }
            return members;
        }

        static Value make(int depth, int kind) {
            kind = depth == 0 ? kind % 4 : kind;
            if (kind < 2) {
                return new Number(random(1000000));
            }
            if (kind < 4) {
                int seed = random(1000);
                return new Text(seed, 4 + random(24));
            }
            return kind < 6 ? makeList(depth) : makeMembers(depth);
        }

        static int run(int documents, int keep, int depth) {
            Value[] kept = new Value[keep];
            int checksum = 0;
            for (int i = 0; i < documents; i++) {
                Value dropped = kept[i % keep];
                checksum = dropped == null ? checksum : dropped.walk(checksum);
                Value document = makeMembers(depth);
                checksum = document.walk(checksum);
                kept[i % keep] = document;
            }
            return checksum;
        }
    }

    static final class Lisp {
        record Number(long n) {}

        record Pair(Object car, Object cdr) {}

        record Closure(Object parameters, Object body, Binding definedIn) {}

        record Binding(Symbol symbol, Object bound, Binding outer) {}

        static final class Symbol {
            final String name;
            final Operator operator;
            Object global;

            Symbol(String name) {
                this.name = name;
                operator = Operator.of(name);
            }
        }

        enum Operator {
            CALL(""), IF("if"), LAMBDA("lambda"), DEFINE("define"), ADD("+"), SUBTRACT("-"), LESS("<"), EQUAL("="),
            CONS("cons"), CAR("car"), CDR("cdr"), NULL("null");

            final String name;

            Operator(String name) {
                this.name = name;
            }

            static Operator of(String name) {
                for (Operator operator : values()) {
                    if (operator.name.equals(name)) {
                        return operator;
                    }
                }
                return CALL;
            }
        }

        final Map<String, Symbol> symbols = new HashMap<>();
        final Symbol truth = symbols.computeIfAbsent("t", Symbol::new);
        final java.util.StringTokenizer tokens;

        Lisp(String text) {
            tokens = new java.util.StringTokenizer(text.replaceAll(";.*", ""), "() \n", true);
            truth.global = truth;
        }

        String next() {
            while (tokens.hasMoreTokens()) {
                String token = tokens.nextToken();
                if (!token.isBlank()) {
                    return token;
                }
            }
            return ")";
        }

        Object readList() {
            String token = next();
            if (token.equals(")")) {
                return null;
            }
            Object form = readForm(token);
            return new Pair(form, readList());
        }

        Object readForm(String token) {
            if (token.equals("(")) {
                return readList();
            }
            if (Character.isDigit(token.charAt(0))) {
                return new Number(Long.parseLong(token));
            }
            return token.equals("nil") ? null : symbols.computeIfAbsent(token, Symbol::new);
        }

        static Object nth(Object list, int n) {
            for (; n > 0; n--) {
                list = ((Pair) list).cdr;
            }
            return ((Pair) list).car;
        }

        static Object lookup(Symbol symbol, Binding environment) {
            for (; environment != null; environment = environment.outer) {
                if (environment.symbol == symbol) {
                    return environment.bound;
                }
            }
            return symbol.global;
        }

        Object apply(Operator operator, Object form, Binding environment) {
            Object first = eval(nth(form, 1), environment);
            switch (operator) {
            case CAR:
                return ((Pair) first).car;
            case CDR:
                return ((Pair) first).cdr;
            case NULL:
                return first == null ? truth : null;
            default:
            }
            Object second = eval(nth(form, 2), environment);
            if (operator == Operator.CONS) {
                return new Pair(first, second);
            }
            long a = ((Number) first).n, b = ((Number) second).n;
            switch (operator) {
            case LESS:
                return a < b ? truth : null;
            case EQUAL:
                return a == b ? truth : null;
            default:
                return new Number(operator == Operator.ADD ? a + b : a - b);
            }
        }

        Binding bind(Closure closure, Object form, Binding environment) {
            Binding inner = closure.definedIn;
            Object arguments = ((Pair) form).cdr;
            for (Object parameters = closure.parameters; parameters != null; parameters = ((Pair) parameters).cdr) {
                Object value = eval(((Pair) arguments).car, environment);
                inner = new Binding((Symbol) ((Pair) parameters).car, value, inner);
                arguments = ((Pair) arguments).cdr;
            }
            return inner;
        }

        Object eval(Object form, Binding environment) {
            for (;;) {
                if (form == null || form instanceof Number) {
                    return form;
                }
                if (form instanceof Symbol symbol) {
                    return lookup(symbol, environment);
                }
                Object head = ((Pair) form).car;
                Operator operator = head instanceof Symbol symbol ? symbol.operator : Operator.CALL;
                switch (operator) {
                case IF:
                    form = nth(form, eval(nth(form, 1), environment) != null ? 2 : 3);
                    break;
                case LAMBDA:
                    return new Closure(nth(form, 1), nth(form, 2), environment);
                case DEFINE:
                    Pair signature = (Pair) nth(form, 1);
                    ((Symbol) signature.car).global = new Closure(signature.cdr, nth(form, 2), null);
                    return null;
                case CALL:
                    Closure closure = (Closure) eval(head, environment);
                    environment = bind(closure, form, environment);
                    form = closure.body;
                    break;
                default:
                    return apply(operator, form, environment);
                }
            }
        }

        static int run(String file, int repeat) throws IOException {
            Lisp lisp = new Lisp(Files.readString(Path.of(file)));
            Object forms = lisp.readList();
            int checksum = 0;
            for (; repeat > 0; repeat--) {
                for (Pair rest = (Pair) forms; rest != null; rest = (Pair) rest.cdr) {
                    if (lisp.eval(rest.car, null) instanceof Number number) {
                        checksum = mix(checksum, number.n);
                    }
                }
            }
            return checksum;
        }
    }

    static final class Lru {
        static final class Entry {
            int key;
            byte[] value;
            Entry chain, newer, older;
        }

        final int capacity;
        final Entry[] table;
        final Entry sentinel = new Entry();
        int count;

        Lru(int capacity) {
            this.capacity = capacity;
            int buckets = 16;
            while (buckets < capacity) {
                buckets *= 2;
            }
            table = new Entry[buckets];
            sentinel.newer = sentinel.older = sentinel;
        }

        static int nextKey() {
            int bits = random(24);
            return (1 << bits) + random(1 << bits);
        }

        int bucket(int key) {
            return key * (int) 2654435761L >>> 7 & table.length - 1;
        }

        static byte[] makeValue(int key) {
            byte[] value = new byte[16 + key % 112];
            java.util.Arrays.fill(value, (byte) key);
            return value;
        }

        void unlink(Entry entry) {
            entry.newer.older = entry.older;
            entry.older.newer = entry.newer;
        }

        void link(Entry entry) {
            Entry latest = sentinel.older;
            entry.newer = sentinel;
            entry.older = latest;
            latest.newer = entry;
            sentinel.older = entry;
        }

        Entry find(int key) {
            Entry entry = table[bucket(key)];
            while (entry != null && entry.key != key) {
                entry = entry.chain;
            }
            return entry;
        }

        void evict() {
            Entry entry = sentinel.newer;
            unlink(entry);
            int place = bucket(entry.key);
            Entry other = table[place];
            if (other == entry) {
                table[place] = entry.chain;
            } else {
                while (other.chain != entry) {
                    other = other.chain;
                }
                other.chain = entry.chain;
            }
            count--;
        }

        void insert(int key) {
            if (count == capacity) {
                evict();
            }
            Entry entry = new Entry();
            int place = bucket(key);
            entry.key = key;
            entry.value = makeValue(key);
            entry.chain = table[place];
            table[place] = entry;
            link(entry);
            count++;
        }

        int run(int operations) {
            int checksum = 0;
            for (int i = 0; i < operations; i++) {
                int key = nextKey();
                Entry entry = find(key);
                if (entry == null) {
                    insert(key);
                    continue;
                }
                checksum = mix(checksum, entry.value[15] & 255);
                unlink(entry);
                link(entry);
                if (i % 8 == 0) {
                    entry.value = makeValue(key);
                }
            }
            for (Entry entry = sentinel.older; entry != sentinel; entry = entry.older) {
                checksum = mix(checksum, entry.key);
            }
            return checksum;
        }
    }

    static int run(String[] words) throws IOException {
        int[] n = new int[4];
        for (int i = 1; i < words.length; i++) {
            n[i] = Character.isDigit(words[i].charAt(0)) ? Integer.parseInt(words[i]) : 0;
        }
        switch (words[0]) {
        case "gcbench":
            return GcBench.run(n[1]);
        case "trees":
            return Trees.run(n[1]);
        case "queue":
            return queue(n[1], n[2], words[3].equals("cleared"));
        case "array":
            return array(n[1], n[2], n[3]);
        case "alloc":
            return Alloc.run(n[1], n[2]);
        case "json":
            return Json.run(n[1], n[2], n[3]);
        case "lisp":
            return Lisp.run(words[1], n[2]);
        case "lru":
            return new Lru(n[1]).run(n[2]);
        default:
            throw new IllegalArgumentException("no program " + words[0]);
        }
    }

    public static void main(String[] words) throws IOException {
        long start = System.nanoTime();
        int checksum = run(words);
        System.out.printf("{\"checksum\": %d, \"start_ns\": %d, \"end_ns\": %d}%n", checksum & 0xffffffffL, start,
                System.nanoTime());
    }
}
