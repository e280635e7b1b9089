package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Tool is a function that the model can call.
type Tool struct {
	schema map[string]any
	Run    func(ctx context.Context, c *Client, id string, parameters map[string]any) (map[string]any, error)
}

func (t Tool) announcement(name string) map[string]any {
	return map[string]any{"name": name, "description": "Does " + name + ".", "inputSchema": t.schema}
}

func schema(properties map[string]any, required ...any) map[string]any {
	if required == nil {
		required = []any{}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// withRunEvents wraps a tool so that each run prints an event.
func withRunEvents(run func(context.Context, *Client, string, map[string]any) (map[string]any, error)) func(context.Context, *Client, string, map[string]any) (map[string]any, error) {
	return func(ctx context.Context, c *Client, id string, parameters map[string]any) (map[string]any, error) {
		c.print(map[string]any{"event": "run", "id": id})
		return run(ctx, c, id, parameters)
	}
}

var number = map[string]any{"type": "integer"}

var tools = map[string]Tool{
	"echo": {schema(map[string]any{}), withRunEvents(func(_ context.Context, _ *Client, _ string, parameters map[string]any) (map[string]any, error) {
		return parameters, nil
	})},
	"slow": {schema(map[string]any{"ms": number}, "ms"), func(ctx context.Context, c *Client, id string, parameters map[string]any) (map[string]any, error) {
		ms, isInteger := integer(parameters["ms"])
		if !isInteger {
			return nil, invalidInput("ms: expected an integer")
		}
		c.print(map[string]any{"event": "run", "id": id})
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-ctx.Done():
		}
		return map[string]any{}, ctx.Err()
	}},
	"fail": {schema(map[string]any{"message": map[string]any{"type": "string"}}, "message"), withRunEvents(func(_ context.Context, _ *Client, _ string, parameters map[string]any) (map[string]any, error) {
		return nil, errors.New(text(parameters["message"]))
	})},
	"big": {schema(map[string]any{"bytes": number}, "bytes"), withRunEvents(func(_ context.Context, _ *Client, _ string, parameters map[string]any) (map[string]any, error) {
		bytes, _ := integer(parameters["bytes"])
		return map[string]any{"text": strings.Repeat("x", int(bytes))}, nil
	})},
	"report": {schema(map[string]any{}), withRunEvents(func(_ context.Context, c *Client, id string, _ map[string]any) (map[string]any, error) {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.send(typeProgress, map[string]any{"id": id, "log": "half way", "progress": 0.5}, false)
		return map[string]any{}, nil
	})},
}

func listOf(value string) []string {
	return strings.FieldsFunc(value, func(sign rune) bool { return sign == ',' })
}

func main() {
	var printing sync.Mutex
	output := json.NewEncoder(os.Stdout)
	print := func(event map[string]any) {
		printing.Lock()
		defer printing.Unlock()
		_ = output.Encode(event)
	}
	client := &Client{
		url:      os.Getenv("LIVEKIT_URL"),
		token:    os.Getenv("LIVEKIT_TOKEN"),
		features: append([]string{"claims", "tool_use_cancel", "tool_use_progress"}, listOf(os.Getenv("CONFORMANCE_FEATURES"))...),
		tools:    tools,
		offered:  listOf(os.Getenv("CONFORMANCE_TOOLS")),
		print:    print,
		unacked:  map[int64]*unacked{},
		seen:     map[string]map[int64]bool{},
		calls:    map[string]*call{},
		results:  map[string]map[string]any{},
		answers:  map[string]*answer{},
		outgoing: make(chan func(), 1_000),
	}
	go func() {
		for publish := range client.outgoing {
			publish()
		}
	}()
	go client.keepSending()
	join := func() {
		if err := client.Join(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		print(map[string]any{"event": "joined"})
	}
	join()
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		var line struct {
			Command, Text string
			Tools         []string
		}
		if json.Unmarshal(commands.Bytes(), &line) != nil {
			continue
		}
		switch line.Command {
		case "say":
			client.Say(line.Text)
		case "stop":
			client.Stop()
		case "announce":
			client.Offer(line.Tools)
		case "rejoin":
			client.Leave()
			join()
		}
	}
	client.Leave()
}
