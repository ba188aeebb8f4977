; The program that lisp evaluates; lisp.c describes the language.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (tak x y z)
  (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z))

(define (safe row distance placed)
  (if (null placed) t
    (if (= (car placed) row) nil
      (if (= (car placed) (+ row distance)) nil
        (if (= (car placed) (- row distance)) nil
          (safe row (+ distance 1) (cdr placed)))))))
(define (try columns row placed size)
  (if (= columns 0) 1
    (if (= row 0) 0
      (+ (if (safe row 1 placed) (try (- columns 1) size (cons row placed) size) 0)
         (try columns (- row 1) placed size)))))
(define (queens size) (try size size nil size))

(define (range low high) (if (< low high) (cons low (range (+ low 1) high)) nil))
(define (map function list) (if (null list) nil (cons (function (car list)) (map function (cdr list)))))
(define (fold function value list) (if (null list) value (fold function (function value (car list)) (cdr list))))
(define (adder n) (lambda (x) (+ x n)))
(define (compose f g) (lambda (x) (f (g x))))
(define (sum-by-closures n) ((fold compose (adder 1) (map adder (range 0 n))) 0))

(fib 18)
(tak 12 8 4)
(queens 6)
(sum-by-closures 500)
