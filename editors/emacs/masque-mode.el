;;; masque-mode.el --- Modes for ISPL, BDI, LCC and mu-calculus files  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages

;;; Commentary:

;; Major modes for the languages of the model checker Masque, with colours, comments and indentation, and
;; Eglot set up for its language server, `masque lsp'.  Eglot is part of Emacs 29; for Emacs 28 install the package.
;;
;;   (add-to-list 'load-path "~/masque/editors/emacs")
;;   (require 'masque-mode)
;;   (add-hook 'masque-mode-hook #'eglot-ensure)
;;
;; `C-c C-c' checks the property at point, `C-c C-a' all properties, `C-c C-w' shows evidence.

;;; Code:

(require 'cl-lib)
(require 'comint)
(require 'subr-x)

(defgroup masque nil
  "Models of multi-agent systems."
  :group 'languages
  :prefix "masque-")

(defcustom masque-program "masque"
  "Path of the program Masque."
  :type 'string)

(defcustom masque-settings nil
  "Settings of the language server, as a property list.
For example (:check (:timeLimit 30 :engine \"symbolic\")).  See docs/editors.md."
  :type 'plist)

(defcustom masque-indent-offset 2
  "Columns of indentation for each level."
  :type 'natnum
  :safe #'natnump)

(defcustom masque-evidence-function #'browse-url-of-file
  "Function that shows a page with evidence, given the path of the page."
  :type 'function)

;;;; Words

(defconst masque-ispl-words
  '((keyword "Agent" "end" "Semantics" "Obsvars" "Lobsvars" "Vars" "RedStates" "GreenStates"
     "Actions" "Action" "Protocol" "Other" "Evolution" "Ev" "Lstate" "Lgreen" "Evaluation"
     "InitStates" "Groups" "Fairness" "Formulae" "import" "param" "for" "in" "where" "if")
    (operator "and" "or" "not" "mod")
    (modality "AX" "AF" "AG" "EX" "EF" "EG" "A" "E" "X" "F" "G" "U" "W" "R" "K" "GK" "DK" "GCK"
     "KH" "O" "D" "C" "mu" "nu" "LTL" "CTL")
    (function "forall" "exists" "sum" "count" "min" "max" "prev" "next")
    (constant "true" "false" "MultiAssignment" "SingleAssignment" "MA" "SA" "perfect" "uniform"
     "joint" "objective")
    (type "boolean"))
  "Words of ISPL by class, as in editors/keywords.json.")

(defconst masque-bdi-words
  '((keyword "agent" "view" "is" "init" "loop" "endloop" "if" "then" "else" "do" "skip" "forall"
     "in" "mas" "property" "option" "top" "var" "bdi" "initially" "check" "fair" "import"
     "unless")
    (operator "not")
    (modality "AX" "AF" "AG" "EX" "EF" "EG" "A" "E" "X" "F" "G" "U" "R" "W" "B" "D" "I" "PB"
     "PD" "PI")
    (function "subworld" "blind" "single_minded" "open_minded" "persistent" "serial"
     "introspection" "realism" "strong" "plain" "weak")
    (constant "true" "false" "any" "AP"))
  "Words of BDI by class, as in editors/keywords.json.")

(defconst masque-lcc-words
  '((keyword "agent" "server" "common" "know" "rule" "enforced" "by" "choice" "option" "now"
     "mail" "property" "import" "a" "r" "after" "until")
    (operator "then" "or" "par" "and" "not" "is" "mod")
    (constant "null" "nil" "self" "initial" "necessary" "optional" "auxiliary" "cyclic"
     "uncommitted"))
  "Words of LCC by class, as in editors/keywords.json.")

(defconst masque-mu-words
  '((operator "and" "or" "not")
    (modality "mu" "nu" "AX" "EX" "AG" "EF" "AF" "EG" "inev" "resp")
    (function "in" "out" "tau" "done" "idle" "at")
    (constant "tt" "ff" "true" "false" "final" "deadlock"))
  "Words of the mu-calculus by class, as in editors/keywords.json.")
(defconst masque--faces
  '((keyword . font-lock-keyword-face)
    (operator . font-lock-builtin-face)
    (modality . font-lock-builtin-face)
    (function . font-lock-function-name-face)
    (constant . font-lock-constant-face)
    (type . font-lock-type-face))
  "Faces of the classes of words.")

(defun masque--any (words)
  "Return a regular expression for any of WORDS as a whole symbol."
  (concat "\\_<" (regexp-opt words t) "\\_>"))

(defun masque--plain (words classes &optional except)
  "Return font lock rules for the CLASSES of WORDS, except those in EXCEPT."
  (cl-loop for class in classes
           for list = (cl-set-difference (cdr (assq class words)) except :test #'equal)
           when list
           collect (cons (masque--any list) (cdr (assq class masque--faces)))))

(defun masque--in-formulas-p ()
  "Return non-nil if point is in a section Formulae or Fairness."
  (save-match-data
    (save-excursion
      (let ((case-fold-search nil))
        (and (re-search-backward "\\_<\\(?:Formulae\\|Fairness\\)\\_>" nil t)
             (progn
               (skip-chars-backward " \t\n")
               (not (looking-back "\\_<end" (line-beginning-position)))))))))

(defun masque--match-modality (limit)
  "Search up to LIMIT for a modality in the formulas of an ISPL file."
  (let ((case-fold-search nil)
        (regexp (concat "\\_<\\(?:\\(?1:A[XFG]\\|E[XFG]\\|LTL\\|CTL\\*\\)\\|"
                        "\\(?1:K\\|GK\\|DK\\|GCK\\|KH\\|O\\|D\\|C\\)[ \t]*(\\|"
                        "\\(?1:A\\|E\\)\\(?:[ \t]*(\\|[ \t]+[FGX]\\_>\\)\\|"
                        "\\(?1:X\\|F\\|G\\)\\(?:[ \t]*[(!<]\\|[ \t]+[[:alpha:]]\\)\\|"
                        "\\(?1:U\\|W\\|R\\)[ \t(!\n]\\|"
                        "\\(?1:mu\\|nu\\)[ \t]+[[:alpha:]][[:alnum:]_]*[ \t]*\\.\\)"))
        found)
    (while (and (not found) (re-search-forward regexp limit t))
      (goto-char (match-end 1))
      (setq found (masque--in-formulas-p)))
    found))

(defconst masque-ispl-font-lock
  (append
   '(("\\_<Agent[ \t]+\\([[:alpha:]][[:alnum:]_]*\\)" 1 font-lock-type-face))
   (list (list (concat "\\_<" (regexp-opt (cdr (assq 'function masque-ispl-words)) t) "[ \t]*(")
               1 'font-lock-function-name-face))
   '(("<[^<>\n]*,[ \t]*\\(perfect\\|uniform\\(?:-joint\\|-objective\\)?\\)[ \t]*>" 1 font-lock-constant-face))
   (masque--plain masque-ispl-words '(keyword operator constant type) '("perfect" "uniform" "joint" "objective"))
   '((masque--match-modality 1 font-lock-builtin-face)))
  "Font lock rules of ISPL.")

(defconst masque-bdi-font-lock
  (append
   '(("\\_<agent[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-type-face)
     ("\\_<property[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-variable-name-face)
     ("\\_<\\(A[XFG]\\|E[XFG]\\)\\_>" . font-lock-builtin-face)
     ("\\_<\\(P?[BDI]\\)[ \t]*(" 1 font-lock-builtin-face)
     ("\\_<\\([BDI]\\)_[[:alnum:]_]+\\(?:[ \t]*[(!¬∀∃]\\|[ \t]+[[:alpha:]]\\)" 1 font-lock-builtin-face)
     ("\\_<\\([AE]\\)[ \t]*[[(]" 1 font-lock-builtin-face)
     ("[∀∃]\\([XFG]\\)\\_>" 1 font-lock-builtin-face)
     ("[] \t)]\\([URW]\\)[ \t(!¬]" 1 font-lock-builtin-face))
   (masque--plain masque-bdi-words '(keyword operator function constant)))
  "Font lock rules of BDI.")

(defconst masque-mu-font-lock
  (append
   '(("\\(?:^\\|;\\)[ \t]*\\([[:alnum:]_$]+\\)[ \t]*:" 1 font-lock-variable-name-face)
     ("[μν]" . font-lock-builtin-face))
   (list (list (concat "\\_<" (regexp-opt (cdr (assq 'function masque-mu-words)) t) "[ \t]*[](@>,}]")
               1 'font-lock-function-name-face))
   (masque--plain masque-mu-words '(operator modality constant)))
  "Font lock rules of the mu-calculus.")

(defconst masque-lcc-font-lock
  (append
   (list
    (list (concat "\\(?:^\\|\\.\\)[ \t]*"
                  (regexp-opt (cl-set-difference (cdr (assq 'keyword masque-lcc-words)) '("a" "r" "by" "after" "until")
                                                 :test #'equal)
                              t)
                  "[ \t]+\\(?:\\(by\\)\\_>\\)?")
          '(1 font-lock-keyword-face) '(2 font-lock-keyword-face nil t)))
   '(("^[ \t]*property[ \t]+\\([[:alnum:]_$]+\\)" 1 font-lock-variable-name-face)
     ("\\_<\\(a\\)[ \t]*([ \t]*\\([a-z$][[:alnum:]_$]*\\)?"
      (1 font-lock-keyword-face) (2 font-lock-type-face nil t))
     ("^[ \t]*\\(r\\)(" 1 font-lock-keyword-face)
     ("\\_<\\(after\\|until\\)\\_>[ \t]*[^( \t]" 1 font-lock-keyword-face)
     (",[ \t]*\\(initial\\|necessary\\|optional\\|auxiliary\\|cyclic\\|uncommitted\\)[ \t]*[,)]"
      1 font-lock-constant-face)
     ("\\_<[A-Za-z$][[:alnum:]_$]*\\(?:\\.[0-9][[:alnum:]_$]*\\)+" . font-lock-constant-face)
     ("\\_<\\(null\\|nil\\|self\\)\\_>" . font-lock-constant-face)
     ("\\_<\\(A[XFG]\\|E[XFG]\\|inev\\|resp\\)\\_>" . font-lock-builtin-face))
   (masque--plain masque-lcc-words '(operator)))
  "Font lock rules of LCC.")

;;;; Indentation

(defun masque--previous-line ()
  "Move to the line with code before this one.
Return it without comments, or nil at the start of the buffer."
  (let (line)
    (while (and (null line) (zerop (forward-line -1)))
      (let ((text (masque--code)))
        (unless (string-blank-p text)
          (setq line text))))
    line))

(defun masque--code ()
  "Return the current line without its comment."
  (let* ((start (line-beginning-position))
         (end (line-end-position))
         (state (save-excursion (syntax-ppss end))))
    (string-trim-right
     (buffer-substring-no-properties start (if (nth 4 state) (max start (nth 8 state)) end)))))

(defun masque--code-from-here ()
  "Return the code of this line, or of the next one if this is a comment."
  (save-excursion
    (beginning-of-line)
    (while (and (looking-at "[ \t]*\\(?:--\\|//\\|%\\)") (zerop (forward-line 1))))
    (string-trim-left (masque--code))))

(defun masque--to-statement (unfinished)
  "Move to the line on which the statement of this line begins.
UNFINISHED is a function that says whether a line continues on the next one."
  (let ((here (point)))
    (while (let ((before (masque--previous-line)))
             (and before (funcall unfinished before)))
      (setq here (point)))
    (goto-char here)))

(defun masque--continued (line column unfinished)
  "Return the column of the line after LINE, which is at COLUMN.
UNFINISHED is a function that says whether a line continues on the next one.
Point is on LINE."
  (let* ((is-unfinished (funcall unfinished line))
         (start (save-excursion
                  (masque--to-statement unfinished)
                  (current-indentation))))
    (cond
     ((not is-unfinished) start)
     ((= start column) (+ column masque-indent-offset))
     (t column))))

(defun masque--indent (compute)
  "Indent this line to the column that COMPUTE returns.
COMPUTE gets the code of this line, that of the line before and
the indentation of the latter."
  (let* ((case-fold-search nil)
         (here (masque--code-from-here))
         (column (save-excursion
                   (beginning-of-line)
                   (let ((line (masque--previous-line)))
                     (if line (funcall compute here line (current-indentation)) 0)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (max 0 column))
      (save-excursion (indent-line-to (max 0 column))))))

(defun masque--count (char text)
  "Return how often CHAR is in TEXT."
  (cl-count char text))

(defun masque--ispl-opens-p (line)
  "Return non-nil if LINE is the heading of a section or of a loop."
  (or (and (string-match-p
            (concat "\\`[ \t]*\\(?:Agent\\_>\\|\\(?:Obsvars\\|Vars\\|RedStates\\|Protocol\\|Evolution\\|Ev\\)"
                    "[ \t]*:\\|\\(?:Evaluation\\|InitStates\\|Groups\\|Fairness\\|Formulae\\)\\_>\\)")
            line)
           (not (string-match-p "\\_<end\\_>" line)))
      (string-match-p "\\`[ \t]*for\\_>.*{\\'" line)))

(defun masque--ispl-unfinished-p (line)
  "Return non-nil if the statement of LINE continues on the next line."
  (not (or (masque--ispl-opens-p line)
           (string-match-p "\\`[ \t]*}\\'" line)
           (string-match-p "\\(?:;\\|\\_<end[ \t]+[[:alpha:]]+\\)\\'" line))))

(defun masque--ispl-inside (here end)
  "Return the column of a line HERE inside the statement of this line.
The line begins at END."
  (masque--to-statement #'masque--ispl-unfinished-p)
  (let* ((column (current-indentation))
         (start (line-beginning-position))
         (state (save-excursion (syntax-ppss end)))
         (depth (- (car state) (save-excursion (car (syntax-ppss start)))))
         (in-list (seq-some (lambda (open) (and (>= open start) (eq (char-after open) ?{))) (nth 9 state)))
         (closing (if (string-match-p "\\`[])}]" here) 1 0)))
    (+ column (* masque-indent-offset (+ (max 0 (- depth closing)) (if in-list 0 1))))))

(defun masque-ispl-indent-line ()
  "Indent a line of ISPL."
  (let ((start (line-beginning-position)))
    (masque--indent
     (lambda (here line column)
       (if (masque--ispl-unfinished-p line)
           (masque--ispl-inside here start)
         (+ (if (masque--ispl-opens-p line)
                (+ column masque-indent-offset)
              (masque--to-statement #'masque--ispl-unfinished-p)
              (current-indentation))
            (if (string-match-p "\\`\\(?:end\\_>\\|}\\)" here) (- masque-indent-offset) 0)))))))

(defun masque-bdi-indent-line ()
  "Indent a line of BDI."
  (masque--indent
   (lambda (here line column)
     (if (string-match-p "\\`\\(?:agent\\|view\\|property\\|check\\|mas\\|option\\|top\\|import\\)\\_>" here)
         0
       (+ (masque--continued line column (lambda (code) (string-suffix-p "," code)))
          (if (or (string-match-p "\\`[ \t]*\\(?:agent\\|view\\)\\_>.*\\_<is\\'" line)
                  (and (string-match-p "\\`[ \t]*loop\\_>" line) (not (string-match-p "endloop" line)))
                  (string-match-p "\\(?:{[^}]*\\|\\_<then\\|\\_<else\\)\\'" line))
              masque-indent-offset
            0)
          (if (string-match-p "\\`\\(?:endloop\\_>\\|}\\|else\\_>\\)" here) (- masque-indent-offset) 0))))))

(defconst masque--lcc-statement
  (concat "\\`\\(?:\\(?:agent\\|server\\|common\\|know\\|rule\\|enforced\\|choice\\|option\\|now\\|mail"
          "\\|property\\|import\\)[ \t]\\|a(.*::\\)")
  "Start of a statement, which begins in the first column.")

(defun masque-lcc-indent-line ()
  "Indent a line of LCC."
  (masque--indent
   (lambda (here line column)
     (cond
      ((string-match-p masque--lcc-statement here) 0)
      ((string-match-p "\\`[ \t]*enforced[ \t]+by\\_>.*:\\'" line) masque-indent-offset)
      ;; A rule below a heading is followed by another one, any other statement begins in the first column.
      ((string-match-p "[.;]\\'" line) (if (string-match-p "\\`[ \t]+(" line) column 0))
      (t (+ column
            (if (string-match-p "::\\'\\|\\`[ \t]*\\(?:rule\\|know\\|common\\|property\\)\\_>" line)
                masque-indent-offset
              0)
            (* masque-indent-offset (- (masque--count ?\( line) (masque--count ?\) line)))
            (if (string-prefix-p ")" here) (- masque-indent-offset) 0)))))))

(defun masque-mu-indent-line ()
  "Indent a line of a property file."
  (masque--indent
   (lambda (_here line column)
     (cond
      ((string-match-p ";\\'" line) 0)
      ((string-match-p "\\`[ \t]*[[:alnum:]_$]+[ \t]*:" line) masque-indent-offset)
      (t column)))))

;;;; Modes

(defun masque--syntax-table (percent single-quotes)
  "Return a syntax table with comments as in C++.
PERCENT says that `%' begins a comment, SINGLE-QUOTES that `'' encloses texts."
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?% (if percent "< b" ".") table)
    (modify-syntax-entry ?\' (if single-quotes "\"" ".") table)
    (modify-syntax-entry ?$ "_" table)
    (modify-syntax-entry ?| "." table)
    ;; The signs of the papers separate names, as the ASCII signs do.
    (dolist (sign (append "<>=&!+-#@~¬∧∨⊃⇒⇐←→↔⇔≡≤≥≠∥‖∀∃∈⊤⊥−⟨⟩〈〉" nil))
      (modify-syntax-entry sign "." table))
    table))

(defvar masque-ispl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?- ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\' "." table)
    (modify-syntax-entry ?| "." table)
    (dolist (sign '(?< ?> ?= ?& ?! ?+ ?* ?/ ?% ?$))
      (modify-syntax-entry sign "." table))
    table)
  "Syntax table of `masque-ispl-mode'.")

(defvar masque-bdi-mode-syntax-table (masque--syntax-table nil nil)
  "Syntax table of `masque-bdi-mode'.")
(defvar masque-lcc-mode-syntax-table (masque--syntax-table t t)
  "Syntax table of `masque-lcc-mode'.")
(defvar masque-mu-mode-syntax-table (masque--syntax-table t t)
  "Syntax table of `masque-mu-mode'.")

(defvar masque-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'masque-check)
    (define-key map (kbd "C-c C-a") #'masque-check-all)
    (define-key map (kbd "C-c C-w") #'masque-why)
    (define-key map (kbd "C-c C-s") #'masque-simulate)
    (define-key map (kbd "C-c C-k") #'masque-cancel)
    (define-key map (kbd "C-c C-v") #'masque-list-verdicts)
    map)
  "Keys of all modes of Masque.")

(define-derived-mode masque-mode prog-mode "Masque"
  "Parent of the modes for ISPL, BDI, LCC and mu-calculus files."
  (setq-local indent-tabs-mode nil)
  (setq-local parse-sexp-ignore-comments t))

(defun masque--set-up (comment rules indent)
  "Set the start of a COMMENT, the font lock RULES and the function INDENT."
  (setq-local comment-start (concat comment " "))
  (setq-local comment-end "")
  (setq-local comment-start-skip (if (equal comment "--") "--+[ \t]*" "\\(?://+\\|%+\\|/\\*+\\)[ \t]*"))
  (setq-local font-lock-defaults (list rules nil nil nil))
  (setq-local indent-line-function indent))

;;;###autoload
(define-derived-mode masque-ispl-mode masque-mode "ISPL"
  "Mode for models of interpreted systems."
  (masque--set-up "--" masque-ispl-font-lock #'masque-ispl-indent-line)
  (setq-local imenu-generic-expression '(("Agents" "^[ \t]*Agent[ \t]+\\([[:alpha:]][[:alnum:]_]*\\)" 1))))

;;;###autoload
(define-derived-mode masque-bdi-mode masque-mode "BDI"
  "Mode for agents with beliefs, desires and intentions."
  (masque--set-up "//" masque-bdi-font-lock #'masque-bdi-indent-line)
  (setq-local imenu-generic-expression
              '(("Agents" "^[ \t]*agent[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1)
                ("Properties" "^[ \t]*property[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1))))

;;;###autoload
(define-derived-mode masque-lcc-mode masque-mode "LCC"
  "Mode for protocols and their rules."
  (masque--set-up "//" masque-lcc-font-lock #'masque-lcc-indent-line)
  (setq-local imenu-generic-expression
              '(("Roles" "^[ \t]*a([ \t]*\\([[:alnum:]_$]+\\).*::" 1)
                ("Properties" "^[ \t]*property[ \t]+\\([[:alnum:]_$]+\\)" 1))))

;;;###autoload
(define-derived-mode masque-mu-mode masque-mode "Mu"
  "Mode for properties in the mu-calculus."
  (masque--set-up "//" masque-mu-font-lock #'masque-mu-indent-line)
  (setq-local imenu-generic-expression '(("Properties" "^[ \t]*\\([[:alnum:]_$]+\\)[ \t]*:" 1))))

;;;###autoload
(progn
  (add-to-list 'auto-mode-alist '("\\.ispl\\'" . masque-ispl-mode))
  (add-to-list 'auto-mode-alist '("\\.bdi\\'" . masque-bdi-mode))
  (add-to-list 'auto-mode-alist '("\\.\\(?:lcc\\|pol\\)\\'" . masque-lcc-mode))
  (add-to-list 'auto-mode-alist '("\\.mu\\'" . masque-mu-mode)))

;;;; Language server

(defvar eglot-server-programs)
(declare-function eglot-current-server "eglot")
(declare-function jsonrpc-request "jsonrpc")
(declare-function jsonrpc-async-request "jsonrpc")

(put 'masque-ispl-mode 'eglot-language-id "ispl")
(put 'masque-bdi-mode 'eglot-language-id "bdi")
(put 'masque-lcc-mode 'eglot-language-id "lcc")
(put 'masque-mu-mode 'eglot-language-id "mu")

(defun masque--contact (&rest _)
  "Return the command line of the language server and its options."
  (unless (executable-find masque-program)
    (user-error "There is no program `%s'; build it with `cargo install --path apps/cli', or set `masque-program'"
                masque-program))
  (list masque-program "lsp"
        :initializationOptions
        (list :settings (or masque-settings (make-hash-table)) :terminal t :evidencePanel t)))

(defvar masque--verdicts (make-hash-table :test #'equal)
  "Last verdicts, by the address of the model: a list of property lists.
A model may have properties in several files.")

(defvar masque-verdicts-hook nil
  "Functions to call after a check, with the address of the file.")

(defun masque--uri (&optional buffer)
  "Return the address of the file of BUFFER, as Eglot writes it."
  (with-current-buffer (or buffer (current-buffer))
    (let ((file (buffer-file-name)))
      (unless file
        (user-error "This buffer has no file"))
      (if (fboundp 'eglot-path-to-uri)
          (eglot-path-to-uri file)
        (with-no-warnings (eglot--path-to-uri file))))))

(defun masque--path (uri)
  "Return the path of a file with the address URI."
  (file-truename (if (fboundp 'eglot-uri-to-path)
                     (eglot-uri-to-path uri)
                   (with-no-warnings (eglot--uri-to-path uri)))))

(defun masque-verdicts (&optional buffer)
  "Return the verdicts of BUFFER after the last check.
Each is a property list with :name, :verdict and :text."
  (let ((path (file-truename (or (buffer-file-name buffer) (user-error "This buffer has no file"))))
        found)
    (maphash
     (lambda (model properties)
       (dolist (property properties)
         (when (equal (masque--path (or (plist-get property :uri) model)) path)
           (push property found))))
     masque--verdicts)
    (nreverse found)))

(defun masque-list-verdicts ()
  "Show the verdicts of this file in a buffer of their own."
  (interactive)
  (let ((verdicts (masque-verdicts))
        (file (buffer-file-name)))
    (if (null verdicts)
        (message "There are no verdicts; check the file first")
      (with-help-window "*masque verdicts*"
        (dolist (property verdicts)
          (princ (format "%s:%d: %s: %s\n" file
                         (1+ (or (plist-get (plist-get (plist-get property :range) :start) :line) 0))
                         (plist-get property :verdict) (plist-get property :name)))))
      (with-current-buffer "*masque verdicts*"
        (compilation-minor-mode 1)))))

(defun masque--server ()
  "Return the server of this buffer."
  (or (and (fboundp 'eglot-current-server) (eglot-current-server))
      (user-error "The language server is not running here; start it with M-x eglot")))

(defun masque--execute (command argument)
  "Run COMMAND of the server with ARGUMENT."
  (jsonrpc-async-request
   (masque--server) :workspace/executeCommand
   (list :command command :arguments (vector argument))
   :success-fn #'ignore
   :error-fn (lambda (err) (message "masque: %s" (plist-get err :message)))
   :timeout-fn #'ignore))

(defun masque--position ()
  "Return the position of point: line, and UTF-16 code unit in the line."
  (let ((text (buffer-substring-no-properties (line-beginning-position) (point))))
    (list :line (save-restriction (widen) (1- (line-number-at-pos)))
          :character (/ (length (encode-coding-string text 'utf-16le t)) 2))))

(defun masque--flush-changes ()
  "Send the changes of this buffer to the server.
Eglot does so after a pause only."
  (when (fboundp 'eglot--signal-textDocument/didChange)
    (with-no-warnings (eglot--signal-textDocument/didChange))))

(defun masque--on-property (name)
  "Run the command NAME of the server on the property at point.
It is the command of the code action there."
  (masque--flush-changes)
  (let* ((here (masque--position))
         (actions (jsonrpc-request
                   (masque--server) :textDocument/codeAction
                   (list :textDocument (list :uri (masque--uri))
                         :range (list :start here :end here)
                         :context (list :diagnostics [] :only ["source.masque"]))))
         (found (cl-loop for action across (or actions [])
                         for command = (plist-get action :command)
                         for inner = (if (stringp command) action command)
                         when (equal (plist-get inner :command) name) return inner)))
    (if found
        (masque--execute name (aref (plist-get found :arguments) 0))
      (user-error "There is no property at point"))))

(defun masque-check ()
  "Check the property at point."
  (interactive)
  (masque--on-property "masque.check"))

(defun masque-why ()
  "Show the evidence for the verdict of the property at point."
  (interactive)
  (masque--on-property "masque.why"))

(defun masque-simulate ()
  "Simulate from the counterexample of the property at point."
  (interactive)
  (masque--on-property "masque.simulate"))

(defun masque-check-all ()
  "Check all properties of this file."
  (interactive)
  (masque--flush-changes)
  (masque--execute "masque.checkAll" (list :uri (masque--uri))))

(defun masque-cancel ()
  "Cancel the check of this file."
  (interactive)
  (masque--execute "masque.cancel" (list :uri (masque--uri))))

(defun masque--run-in-buffer (title folder command)
  "Run COMMAND, a list of strings, in FOLDER, in a buffer with TITLE."
  (let* ((default-directory (file-name-as-directory (or folder default-directory)))
         (buffer (generate-new-buffer (format "*%s*" title))))
    (apply #'make-comint-in-buffer title buffer (car command) nil (cdr command))
    (pop-to-buffer buffer)))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               (cons '(masque-ispl-mode masque-bdi-mode masque-lcc-mode masque-mu-mode) #'masque--contact))

  (cl-defmethod eglot-handle-notification (_server (_method (eql 'masque/verdicts)) &key uri properties
                                                   &allow-other-keys)
    "Remember the verdicts of a check."
    (puthash uri (append properties nil) masque--verdicts)
    (run-hook-with-args 'masque-verdicts-hook uri))

  (cl-defmethod eglot-handle-notification (_server (_method (eql 'masque/evidence)) &key path &allow-other-keys)
    "Show the page at PATH."
    (funcall masque-evidence-function path))

  (cl-defmethod eglot-handle-notification (_server (_method (eql 'masque/terminal)) &key title cwd command
                                                   &allow-other-keys)
    "Run COMMAND in the folder CWD, in a buffer called TITLE."
    (masque--run-in-buffer title cwd (append command nil))))

(provide 'masque-mode)
;;; masque-mode.el ends here
