package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

type envelope struct {
	stanza      int64
	messageType int
	body        map[string]any
}

var errFrame = errors.New("the frame is no envelope")

// encode writes an envelope's five keys in order.
func encode(stanza int64, conversation string, messageType int, body map[string]any) ([]byte, error) {
	var frame bytes.Buffer
	encoder := msgpack.NewEncoder(&frame)
	encoder.UseCompactInts(true)
	whole := map[string]any{"conversationId": conversation}
	for key, value := range body {
		whole[key] = narrow(value)
	}
	err := errors.Join(
		encoder.EncodeMapLen(5),
		encoder.EncodeString("stanzaId"), encoder.EncodeInt(stanza),
		encoder.EncodeString("conversationId"), encoder.EncodeString(conversation),
		encoder.EncodeString("type"), encoder.EncodeInt(int64(messageType)),
		encoder.EncodeString("meta"), encoder.EncodeMapLen(0),
		encoder.EncodeString("body"), encoder.Encode(whole),
	)
	return frame.Bytes(), err
}

// narrow turns integers beyond 32 bits into float64, which every implementation reads.
func narrow(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			value[key] = narrow(each)
		}
	case []any:
		for index, each := range value {
			value[index] = narrow(each)
		}
	case int64:
		if value > math.MaxUint32 || value < math.MinInt32 {
			return float64(value)
		}
	case uint64:
		if value > math.MaxUint32 {
			return float64(value)
		}
	}
	return value
}

func decode(frame []byte) (message envelope, err error) {
	if len(frame) > envelopeBytes {
		return message, errFrame
	}
	reader := bytes.NewReader(frame)
	decoder := msgpack.NewDecoder(reader)
	decoder.UseLooseInterfaceDecoding(true)
	root, err := decoder.DecodeMap()
	if err != nil || reader.Len() > 0 {
		return message, errFrame
	}
	stanza, hasStanza := integer(root["stanzaId"])
	messageType, hasType := integer(root["type"])
	body, hasBody := root["body"].(map[string]any)
	if !hasStanza || !hasType || !hasBody {
		return message, errFrame
	}
	return envelope{stanza, int(messageType), body}, nil
}

func text(value any) string {
	read, _ := value.(string)
	return read
}

// integer reads any form of a whole number.
func integer(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case uint64:
		return int64(value), value <= math.MaxInt64
	case float64:
		return int64(value), value == math.Trunc(value) && math.Abs(value) < 1<<53
	}
	return 0, false
}

func hasLongText(value any) bool {
	switch value := value.(type) {
	case string:
		return len(value) > stringBytes
	case map[string]any:
		for _, each := range value {
			if hasLongText(each) {
				return true
			}
		}
	case []any:
		for _, each := range value {
			if hasLongText(each) {
				return true
			}
		}
	}
	return false
}

func newID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return hex.EncodeToString(id)
}
