package main

import (
	"strings"
	"time"

	lksdk "github.com/livekit/server-sdk-go/v2"
)

// answer is an answer in progress. Its sentences may arrive in any order.
type answer struct {
	messageID string
	sentences map[int64]string
	last      int64
}

// onFrame reads a frame from the room. Only frames from a worker are handled.
func (c *Client) onFrame(frame []byte, identity string, sender *lksdk.RemoteParticipant) {
	if sender != nil && !isAgent(sender) {
		return
	}
	message, err := decode(frame)
	c.lock.Lock()
	defer c.lock.Unlock()
	if sender == nil {
		// The sender is not announced yet, so the frame is not trusted and will be requested again.
		if err == nil && len(c.agents) == 0 && message.stanza < 0 && (c.firstMissed == 0 || -message.stanza < c.firstMissed) {
			c.firstMissed = -message.stanza
		}
		return
	}
	if err != nil {
		return
	}
	if message.stanza != 0 {
		seen := c.seen[identity]
		if seen == nil {
			seen = map[int64]bool{}
			c.seen[identity] = seen
		}
		isRepeated := seen[message.stanza]
		seen[message.stanza] = true
		c.lastSeen = max(c.lastSeen, max(message.stanza, -message.stanza))
		if isRepeated && message.messageType != typeToolRequest {
			return
		}
	}
	c.handle(message)
}

func (c *Client) handle(message envelope) {
	body := message.body
	switch message.messageType {
	case typeAck:
		c.onAck(body)
	case typeError:
		c.onError(body)
	case typeToolRequest:
		c.onRequest(message)
	case typeCancel:
		c.onCancel(body)
	case typeStartAnswer:
		id, previous := text(body["id"]), text(body["previousId"])
		if id != "" && previous != "" && c.answers[id] == nil {
			c.answers[id] = &answer{messageID: previous, sentences: map[int64]string{}}
			c.print(map[string]any{"event": "answer_start", "messageId": previous})
		}
	case typeSentence:
		c.onSentence(body)
	case typeAssistantMessage:
		c.print(map[string]any{"event": "answer", "messageId": text(body["previousId"]), "text": text(body["content"])})
	case typePermissionRequest:
		c.onPermission(body)
	case typePermissionResponse:
		c.print(map[string]any{"event": "permission_closed", "id": text(body["permissionId"])})
	}
}

func (c *Client) onAck(body map[string]any) {
	stanza, isInteger := integer(body["acknowledgedStanzaId"])
	if !isInteger {
		return
	}
	if acked := c.unacked[stanza]; acked != nil && acked.messageType == typeConfiguration {
		c.firstMissed = 0
		// Messages from the time without an agent are sent now.
		for _, message := range c.unacked {
			if !message.isOut {
				message.dueAt = time.Now()
			}
		}
	}
	delete(c.unacked, stanza)
}

func (c *Client) onError(body map[string]any) {
	if ms, isInteger := integer(body["retryAfterMs"]); isInteger {
		dueAt := time.Now().Add(time.Duration(ms) * time.Millisecond)
		for _, message := range c.unacked {
			message.dueAt = dueAt
		}
		return
	}
	code, _ := integer(body["code"])
	c.print(map[string]any{"event": "error", "code": code, "originatingId": text(body["originatingId"])})
}

func (c *Client) onSentence(body map[string]any) {
	id := text(body["previousId"])
	sequence, isInteger := integer(body["sequence"])
	sentence, isText := body["text"].(string)
	given := c.answers[id]
	if !isInteger || !isText || given == nil {
		return
	}
	c.print(map[string]any{"event": "sentence", "answerId": id})
	given.sentences[sequence] = sentence
	if isFinal, _ := body["isFinal"].(bool); isFinal {
		given.last = sequence
	}
	if given.last == 0 || int64(len(given.sentences)) < given.last {
		return
	}
	delete(c.answers, id)
	said := []string{}
	for each := int64(1); each <= given.last; each++ {
		if given.sentences[each] != "" {
			said = append(said, given.sentences[each])
		}
	}
	c.print(map[string]any{"event": "answer", "messageId": given.messageID, "text": strings.Join(said, " ")})
}

func (c *Client) onPermission(body map[string]any) {
	id, title := text(body["id"]), text(body["title"])
	if id == "" {
		return
	}
	c.print(map[string]any{"event": "permission", "id": id})
	word, _, _ := strings.Cut(title, " ")
	switch word {
	case "approve", "reject", "once", "always":
		c.send(typePermissionResponse, map[string]any{"permissionId": id, "response": word}, false)
	}
}
