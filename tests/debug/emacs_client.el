;;; A session of Emacs's client (dap-mode) with `warpgrind dap'. clients_test.py starts it, with these environment variables:
;;; WARPGRIND, PROGRAM, LINE, and HOME, an empty folder.
(package-initialize)
(setq lsp-session-file (expand-file-name "session" (getenv "HOME"))
      dap-breakpoints-file (expand-file-name "breakpoints" (getenv "HOME"))
      dap-auto-configure-features nil
      dap-print-io nil)
(require 'dap-mode)
(require 'dap-ui)  ; has the exception filters
(dap-mode 1)

(defvar test-ended nil)
(defvar test-line (string-to-number (getenv "LINE")))
(add-hook 'dap-terminated-hook (lambda (_) (setq test-ended t)))

(defun test-wait (what condition)
  "Handles messages until CONDITION holds. Emacs has then done what it does by itself."
  (let ((end (+ (float-time) 90)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "nothing came: %s" what))
      (accept-process-output nil 0.05))))

(defun test-equal (have want)
  (unless (equal have want) (error "have %S, want %S" have want)))

(defun test-request (command &rest arguments)
  "The body of the answer."
  (let (answer)
    (dap--send-message (dap--make-request command arguments) (lambda (response) (setq answer response)) (dap--cur-session))
    (test-wait command (lambda () answer))
    (unless (eq t (gethash "success" answer)) (error "%s: %S" command answer))
    (gethash "body" answer)))

(defun test-frame ()
  "The frame that Emacs shows."
  (test-wait "a stop" (lambda () (and (dap--cur-session) (dap--debug-session-active-frame (dap--cur-session)))))
  (dap--debug-session-active-frame (dap--cur-session)))

(defun test-evaluate (expression)
  (gethash "result" (test-request "evaluate" :expression expression :frameId (gethash "id" (test-frame)) :context "watch")))

(defun test-at-line (line)
  (test-equal (gethash "line" (test-frame)) line)
  ;; Emacs shows the file, with the cursor at the line.
  (test-equal (file-truename (buffer-file-name (window-buffer))) (file-truename (getenv "PROGRAM")))
  (test-equal (with-current-buffer (window-buffer) (line-number-at-pos)) line))

(defun test-session ()
  (find-file (getenv "PROGRAM"))
  (goto-char (point-min))
  (forward-line (1- test-line))
  (dap-breakpoint-add)
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "i == 69")))
    (dap-breakpoint-condition buffer-file-name (dap--get-breakpoint-at-point)))
  (dap-register-debug-provider
   "warpgrind" (lambda (conf) (plist-put conf :dap-server-path (list (getenv "WARPGRIND") "dap"))))
  (dap-debug (list :type "warpgrind" :request "launch" :name "test" :program (getenv "PROGRAM")))
  (test-at-line test-line)
  (test-equal (test-evaluate "v * 2") "12")                ; in[69] is 69 % 7
  (dap-next (dap--cur-session))
  (test-at-line (1+ test-line))
  (test-equal (test-evaluate "tile[5]") "72")
  (dap--step "stepBack" (dap--cur-session))
  (test-at-line test-line)
  (find-file (getenv "PROGRAM"))
  (dap-breakpoint-delete-all)
  (call-interactively #'dap-continue)
  (test-wait "the end" (lambda () test-ended))
  (let ((sums (make-vector 4 0)))
    (dotimes (n 256) (cl-incf (aref sums (/ n 64)) (* 2 (% n 7) (% n 7))))
    (with-current-buffer (dap--debug-session-output-buffer (dap--cur-session))
      (unless (string-match-p (regexp-quote (mapconcat #'number-to-string sums " ")) (buffer-string))
        (error "printed %S" (buffer-string))))))

(condition-case problem
    (test-session)
  (error (message "%s" (error-message-string problem)) (kill-emacs 1)))
(kill-emacs 0)
