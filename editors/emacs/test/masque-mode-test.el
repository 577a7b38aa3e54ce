;;; masque-mode-test.el --- Tests of colours, comments and indentation  -*- lexical-binding: t; -*-

;;; Commentary:
;; Run by `.ci/editors'.

;;; Code:

(require 'ert)
(require 'masque-mode)

(defmacro masque-test-with (file lines &rest body)
  "Open a buffer as if its name were FILE, with LINES, and run BODY there."
  (declare (indent 2))
  `(with-temp-buffer
     (setq buffer-file-name ,file)
     (set-auto-mode)
     (setq buffer-file-name nil)
     (insert (mapconcat #'identity ,lines "\n"))
     (font-lock-ensure)
     ,@body))

(defun masque-test-face (line text)
  "Return the face of the first TEXT in LINE."
  (goto-char (point-min))
  (forward-line (1- line))
  (let ((case-fold-search nil))
    (search-forward text (line-end-position)))
  (get-text-property (match-beginning 0) 'face))

(defun masque-test-faces (expected)
  "Check a list of EXPECTED faces: (LINE TEXT FACE)."
  (dolist (entry expected)
    (should (equal (list (nth 0 entry) (nth 1 entry) (masque-test-face (nth 0 entry) (nth 1 entry))) entry))))

(defun masque-test-indent (file lines)
  "Check that indenting LINES of FILE, without their indentation, restores it."
  (masque-test-with file (mapcar #'string-trim-left lines)
    (let ((inhibit-message t))
      (indent-region (point-min) (point-max)))
    (should (equal (split-string (buffer-string) "\n") lines))))

(ert-deftest masque-test-modes ()
  (dolist (entry '(("a.ispl" . masque-ispl-mode) ("a.bdi" . masque-bdi-mode) ("a.lcc" . masque-lcc-mode)
                   ("a.pol" . masque-lcc-mode) ("a.mu" . masque-mu-mode)))
    (masque-test-with (car entry) '("x")
      (should (eq major-mode (cdr entry)))
      (should (derived-mode-p 'masque-mode))
      (comment-region (point-min) (point-max))
      (should (equal (buffer-string) (if (eq major-mode 'masque-ispl-mode) "-- x" "// x")))
      (uncomment-region (point-min) (point-max))
      (should (equal (buffer-string) "x")))))

(ert-deftest masque-test-ispl-faces ()
  (masque-test-with "a.ispl"
      '("Agent Alice -- Agent Bob"
        "  Vars: x : boolean; end Vars"
        "  Actions = {A, K, U};"
        "end Agent"
        "Formulae"
        "  AG(p -> K(Bob, q)) and true;"
        "  A(p U q); <g, uniform-joint> X p; count(p) = 1;"
        "end Formulae"
        "InitStates K(x); end InitStates")
    (masque-test-faces
     '((1 "Agent" font-lock-keyword-face) (1 "Alice" font-lock-type-face) (1 "Bob" font-lock-comment-face)
       (2 "boolean" font-lock-type-face) (3 "A," nil) (3 "K" nil)
       (6 "AG" font-lock-builtin-face) (6 "K" font-lock-builtin-face) (6 "and" font-lock-builtin-face)
       (6 "true" font-lock-constant-face)
       (7 "A(" font-lock-builtin-face) (7 "U" font-lock-builtin-face) (7 "uniform" font-lock-constant-face)
       (7 "X" font-lock-builtin-face) (7 "count" font-lock-function-name-face)
       (8 "Formulae" font-lock-keyword-face) (9 "K(" nil)))))

(ert-deftest masque-test-ispl-modalities ()
  "Every modality of the list has a colour."
  (dolist (word (cdr (assq 'modality masque-ispl-words)))
    (masque-test-with "a.ispl"
        (list "Formulae" (cond ((member word '("U" "W" "R")) (format "A(p %s q);" word))
                               ((member word '("mu" "nu")) (format "%s Z. p;" word))
                               ((equal word "CTL") "CTL* p;")
                               (t (format "%s(p);" word))))
      (should (equal (cons word (masque-test-face 2 word)) (cons word 'font-lock-builtin-face))))))

(ert-deftest masque-test-bdi-faces ()
  (masque-test-with "a.bdi"
      '("agent a is /* loop */ init p := any"
        "property dry: B(b, p) & ¬B_rcv p -> E[p U q]; // expect: fails")
    (masque-test-faces
     '((1 "agent" font-lock-keyword-face) (1 "loop" font-lock-comment-face) (1 "any" font-lock-constant-face)
       (2 "dry" font-lock-variable-name-face) (2 "B(" font-lock-builtin-face) (2 "B_" font-lock-builtin-face)
       (2 "E[" font-lock-builtin-face) (2 "U" font-lock-builtin-face) (2 "expect" font-lock-comment-face)))))

(ert-deftest masque-test-lcc-faces ()
  (masque-test-with "a.lcc"
      '("a(buyer, B) :: offer(10) => a(seller, S) then null."
        "agent a(buyer, ben). % agent"
        "know ben: agent('then')."
        "property ends : AF final ;"
        "enforced by hd:")
    (masque-test-faces
     '((1 "a(" font-lock-keyword-face) (1 "buyer" font-lock-type-face) (1 "then" font-lock-builtin-face)
       (1 "null" font-lock-constant-face) (2 "agent" font-lock-keyword-face) (2 "% " font-lock-comment-delimiter-face)
       (3 "know" font-lock-keyword-face) (3 "agent" nil) (3 "then" font-lock-string-face)
       (4 "ends" font-lock-variable-name-face) (4 "AF" font-lock-builtin-face)
       (5 "enforced" font-lock-keyword-face) (5 "by" font-lock-keyword-face)))))

(ert-deftest masque-test-mu-faces ()
  (masque-test-with "a.mu" '("retry : nu X. <pay>X || [in(m)]ff; // nu")
    (masque-test-faces
     '((1 "retry" font-lock-variable-name-face) (1 "nu" font-lock-builtin-face) (1 "in(" font-lock-function-name-face)
       (1 "ff" font-lock-constant-face) (1 " nu" nil)))))

(ert-deftest masque-test-indentation ()
  (masque-test-indent
   "a.ispl"
   '("Agent A" "  Vars:" "    x : boolean; -- {" "  end Vars" "  Actions = {a};" "  Protocol: Other : {a}; end Protocol"
     "  Evolution:" "    for i in 1..2 {" "      x = true if Action = a;" "    }" "  end Evolution" "end Agent"
     "Agent B" "  Actions = {" "    a, b" "  };" "  Evolution:" "    x = true if" "      Action = a"
     "      and (x = false" "        or y = 1);" "    y = 1 if true;" "  end Evolution" "end Agent"
     "Formulae" "  AG p;" "end Formulae"))
  (masque-test-indent
   "a.bdi"
   '("agent a is" "  init p := false;" "  loop" "    do listen;" "    skip" "  endloop" "property q: p;"))
  (masque-test-indent
   "a.lcc"
   '("a(buyer, B) ::" "  offer(10) => a(seller, S) then" "  ok <= a(seller, S)." "agent a(buyer, ben)."
     "enforced by hd:" "  (A, self, +access)." "  (A, self, -open)."))
  (masque-test-indent "a.mu" '("a : nu X. <->tt" "  && [-]X;" "b : inev(a);")))

(provide 'masque-mode-test)
;;; masque-mode-test.el ends here
