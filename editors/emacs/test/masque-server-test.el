;;; masque-server-test.el --- Test with Eglot and the real server  -*- lexical-binding: t; -*-

;;; Commentary:
;; Diagnostics, definition, rename, code action and verdict.  Run by `.ci/editors'.  The environment variable
;; MASQUE has the path of the program.  Exits with 77 if there is no Eglot.

;;; Code:

(require 'ert)
(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa")
(package-initialize)
(unless (require 'eglot nil t)
  (kill-emacs 77))
(require 'flymake)
(require 'xref)
(require 'masque-mode)

(defconst masque-test-patience 30
  "Seconds to wait for an answer.  A debug build on a busy machine is slow.")

(defconst masque-test-folder (file-name-directory (or load-file-name buffer-file-name))
  "Folder of this file.")

(defun masque-test-eventually (what condition)
  "Wait until the function CONDITION returns non-nil, and return that; WHAT describes the failure."
  (let ((end (time-add nil masque-test-patience))
        result)
    (while (and (not (setq result (funcall condition))) (time-less-p nil end))
      (accept-process-output nil 0.05))
    (unless result
      (ert-fail what))
    result))

(defun masque-test-errors ()
  "Return the errors that Flymake shows."
  (seq-filter (lambda (diagnostic) (eq (flymake-diagnostic-type diagnostic) 'eglot-error))
              (flymake-diagnostics)))

(defun masque-test-go-to (text)
  "Put point on the first TEXT."
  (goto-char (point-min))
  (let ((case-fold-search nil))
    (search-forward text))
  (goto-char (match-beginning 0)))

(defun masque-test-contains (text)
  "Return non-nil if the buffer contains TEXT."
  (save-excursion
    (goto-char (point-min))
    (let ((case-fold-search nil))
      (search-forward text nil t))))

(defun masque-test-verdict (name)
  "Return the verdict of the property NAME."
  (plist-get (seq-find (lambda (property) (equal (plist-get property :name) name)) (masque-verdicts)) :verdict))

(defun masque-test-shown (text)
  "Return what the user sees of TEXT on the line of point: a diagnostic, or a hint beside the line."
  (let ((begin (line-beginning-position))
        (end (line-end-position)))
    (or (seq-find (lambda (shown) (string-match-p text shown))
                  (mapcar #'flymake-diagnostic-text (flymake-diagnostics begin end)))
        (seq-some (lambda (overlay)
                    (seq-find (lambda (shown) (and (stringp shown) (string-match-p text shown)))
                              (list (overlay-get overlay 'before-string) (overlay-get overlay 'after-string))))
                  (overlays-in begin (1+ end))))))

(defvar masque-test-said nil
  "Messages in the echo area, the last one first.")

(defun masque-test-listen (format &rest arguments)
  "Remember the message of FORMAT with ARGUMENTS."
  (when format
    (push (apply #'format-message format arguments) masque-test-said)))

(defun masque-test-choose (title)
  "Return a function that chooses the entry that begins with TITLE where Emacs would ask."
  (lambda (_prompt collection &rest _)
    (let ((entries (all-completions "" collection)))
      (or (seq-find (lambda (entry) (string-match-p (concat "\\`" title "\\( (\\|\\'\\)") entry)) entries)
          (ert-fail (format "there is no `%s' in %S" title entries))))))

(ert-deftest masque-test-server ()
  (let* ((folder (make-temp-file "masque" t))
         (file (expand-file-name "switch.ispl" folder))
         (masque-program (getenv "MASQUE"))
         (pages nil)
         (masque-evidence-function (lambda (page) (push page pages)))
         (eglot-sync-connect 60)
         (eglot-connect-timeout 60)
         (eglot-autoshutdown t)
         (eglot-confirm-server-initiated-edits nil)
         (xref-prompt-for-identifier nil))
    (copy-file (expand-file-name "../../test/switch.ispl" masque-test-folder) file)
    (with-current-buffer (find-file-noselect file)
      (switch-to-buffer (current-buffer))
      (should (eq major-mode 'masque-ispl-mode))
      (apply #'eglot (eglot--guess-contact))
      (should (eglot-managed-p))

      ;; A file with an error has a diagnostic at the right place.
      (flymake-start)
      (let ((found (car (masque-test-eventually "there is no diagnostic" #'masque-test-errors))))
        (masque-test-go-to "pres ")
        (should (equal (flymake-diagnostic-beg found) (point)))
        (message "diagnostic: %s" (flymake-diagnostic-text found)))

      ;; The diagnostic disappears when the error is corrected.
      (masque-test-go-to "pres ")
      (forward-char 4)
      (insert "s")
      (masque--flush-changes)
      (masque-test-eventually "the diagnostic stays" (lambda () (null (masque-test-errors))))
      (save-buffer)

      ;; From a use to the declaration.
      (masque-test-go-to "lit;")
      (call-interactively #'xref-find-definitions)
      (should (looking-at-p "lit if"))
      (message "definition: line %d" (line-number-at-pos))

      ;; All occurrences get a new name.
      (eglot-rename "shining")
      (masque-test-eventually
       "the name does not change"
       (lambda ()
         (and (masque-test-contains "shining if") (masque-test-contains "EF shining;")
              (masque-test-contains "AG shining;") (not (masque-test-contains "lit")))))
      (masque--flush-changes)
      (save-buffer)
      (message "rename: 3 places")

      ;; The code action on a property checks it, and its verdict can be read.
      (advice-add 'message :before #'masque-test-listen)
      (masque-test-go-to "always :")
      (cl-letf (((symbol-function 'completing-read) (masque-test-choose "check"))
                ;; Without a key before it, Eglot would ask with a menu of the mouse.
                (last-nonmenu-event t))
        (eglot-code-actions (point) nil "source.masque" t))
      (masque-test-eventually "there is no verdict after the code action"
                              (lambda () (equal (masque-test-verdict "always") "fails")))
      ;; The user sees it on the line of the property, and a summary in the echo area.
      (message "code action: %s"
               (masque-test-eventually "the verdict is not shown on the line"
                                       (lambda () (masque-test-shown "fails"))))
      (masque-test-eventually "no message tells the verdict"
                              (lambda ()
                                (seq-find (lambda (said) (string-match-p "fails" said))
                                          masque-test-said)))
      (advice-remove 'message #'masque-test-listen)

      ;; The commands of this package.
      (masque-check-all)
      (masque-test-eventually "there is no verdict after `masque-check-all'"
                              (lambda () (equal (masque-test-verdict "reachable") "holds")))
      (masque-test-go-to "always :")
      (masque-why)
      (masque-test-eventually "there is no page with evidence" (lambda () pages))
      (should (file-readable-p (car pages)))
      (message "evidence: %s" (file-name-nondirectory (car pages)))

      ;; A simulation runs in a buffer of its own.
      (masque-simulate)
      (let ((buffer (masque-test-eventually "there is no simulation" (lambda () (get-buffer "*masque simulate*")))))
        (masque-test-eventually "the simulation shows no state"
                                (lambda () (with-current-buffer buffer (masque-test-contains "Switch.on"))))
        (set-process-query-on-exit-flag (get-buffer-process buffer) nil)
        (kill-buffer buffer))
      (message "simulation: in a buffer")

      (masque-list-verdicts)
      (with-current-buffer "*masque verdicts*"
        (should (masque-test-contains ":26: fails: always")))

      (eglot-shutdown (eglot-current-server))
      (set-buffer-modified-p nil)
      (kill-buffer))
    (delete-directory folder t)))

(provide 'masque-server-test)
;;; masque-server-test.el ends here
