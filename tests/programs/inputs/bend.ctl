; Light in a bent waveguide, small and short.
(set! geometry-lattice (make lattice (size 8 8 no-size)))
(set! geometry (list (make block (center -1 0) (size 6 1 infinity) (material (make medium (epsilon 12))))
                     (make block (center 1.5 2) (size 1 5 infinity) (material (make medium (epsilon 12))))))
(set! sources (list (make source (src (make continuous-src (frequency 0.15))) (component Ez) (center -3 0))))
(set! pml-layers (list (make pml (thickness 1.0))))
(set! resolution 10)
(run-until 40 (at-every 10 (lambda () (print "field " (get-field-point Ez (vector3 1 2)) "\n"))))
