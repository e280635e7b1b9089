package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

const (
	defaultTimeoutMs = 30_000
	maxTimeoutMs     = 600_000
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

var errCancelled = errors.New("the worker has cancelled the call")

// invalidInput is the error of a tool whose parameters are wrong.
type invalidInput string

func (e invalidInput) Error() string { return string(e) }

// call is a running call.
type call struct{ cancel context.CancelCauseFunc }

func failure(id, code, message string) map[string]any {
	return map[string]any{"id": id, "success": false, "errorCode": code, "errorMessage": message}
}

// onRequest follows the table "A tool call", row by row.
func (c *Client) onRequest(message envelope) {
	body := message.body
	id, execution := text(body["id"]), text(body["execution"])
	switch {
	case execution == "server":
		return
	case execution != "client" && execution != "either":
		c.sendMalformed("tool_use_request.execution: expected server, client or either", id)
		return
	case id == "":
		c.sendMalformed("tool_use_request.id: expected a text", "")
		return
	}
	if result := c.results[id]; result != nil {
		c.send(typeToolResult, result, false)
		return
	}
	name := text(body["toolName"])
	tool, isKnown := c.tools[name]
	isKnown = isKnown && toolName.MatchString(name)
	if c.calls[id] != nil {
		if execution == "either" {
			c.acknowledge(message.stanza, true)
		}
		return
	}
	if !isKnown {
		if execution == "either" {
			c.acknowledge(message.stanza, false)
			return
		}
		c.settle(id, failure(id, "unknown_tool", fmt.Sprintf("Tool '%s' is not supported by this client", name)))
		return
	}
	parameters, isMap := body["parameters"].(map[string]any)
	timeoutMs, isTimeout := readTimeout(body["timeoutMs"])
	switch {
	case !isMap:
		c.settle(id, failure(id, "invalid_parameters", "parameters: expected a map"))
		return
	case !isTimeout:
		c.settle(id, failure(id, "invalid_parameters", "timeoutMs: expected a whole number from 0"))
		return
	case text(body["messageId"]) == "":
		c.settle(id, failure(id, "invalid_parameters", "messageId: expected a text"))
		return
	}
	if execution == "either" {
		c.acknowledge(message.stanza, true)
	}
	c.start(id, tool, parameters, timeoutMs)
}

func readTimeout(value any) (int64, bool) {
	if value == nil {
		return defaultTimeoutMs, true
	}
	ms, isInteger := integer(value)
	if !isInteger || ms < 0 {
		return 0, false
	}
	if ms == 0 {
		return defaultTimeoutMs, true
	}
	return min(ms, maxTimeoutMs), true
}

func (c *Client) start(id string, tool Tool, parameters map[string]any, timeoutMs int64) {
	cancellable, cancel := context.WithCancelCause(context.Background())
	c.calls[id] = &call{cancel}
	go func() {
		ctx, stop := context.WithTimeout(cancellable, time.Duration(timeoutMs)*time.Millisecond)
		defer stop()
		type outcome struct {
			result map[string]any
			err    error
		}
		ended := make(chan outcome, 1)
		go func() {
			result, err := tool.Run(ctx, c, id, parameters)
			ended <- outcome{result, err}
		}()
		var result map[string]any
		select {
		case came := <-ended:
			result = toResult(id, came.result, came.err)
		case <-ctx.Done():
			c.print(map[string]any{"event": "aborted", "id": id})
			if context.Cause(cancellable) == errCancelled {
				result = failure(id, "cancelled", errCancelled.Error())
			} else {
				result = failure(id, "timeout", fmt.Sprintf("Tool execution exceeded timeout of %dms", timeoutMs))
			}
		}
		c.lock.Lock()
		defer c.lock.Unlock()
		delete(c.calls, id)
		c.settle(id, result)
	}()
}

func toResult(id string, result map[string]any, err error) map[string]any {
	var invalid invalidInput
	switch {
	case errors.As(err, &invalid):
		return failure(id, "invalid_parameters", err.Error())
	case err != nil:
		return failure(id, "execution_error", err.Error())
	}
	return map[string]any{"id": id, "success": true, "result": result}
}

// settle sends the result, and stores it for a repeated request.
func (c *Client) settle(id string, result map[string]any) {
	frame, err := encode(c.lastStanza+1, c.conversation, typeToolResult, result)
	if err != nil || len(frame) > envelopeBytes || hasLongText(result) {
		result = failure(id, "result_too_large", "The result is too large to be sent")
	}
	c.results[id] = result
	c.send(typeToolResult, result, false)
}

func (c *Client) onCancel(body map[string]any) {
	id := text(body["id"])
	if running := c.calls[id]; running != nil {
		running.cancel(errCancelled)
	} else if id != "" && c.results[id] == nil {
		// The cancel may arrive before its request.
		c.results[id] = failure(id, "cancelled", errCancelled.Error())
	}
}

func (c *Client) sendMalformed(message, originatingID string) {
	body := map[string]any{"id": newID(), "code": 101, "message": message, "severity": 2, "recoverable": true}
	if originatingID != "" {
		body["originatingId"] = originatingID
	}
	c.send(typeError, body, false)
}
