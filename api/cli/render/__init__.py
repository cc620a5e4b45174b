"""How graphs and lists look: trees and tables for people, DOT and Mermaid for pictures."""
